#include "tensor/dim.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "base/fail.h"

namespace fg {

namespace {

struct Symbolic {
  Dim::Op op;
  Dim a, b;
  int64_t hint;
  std::string name;
};

// Expressions are never freed: there are few, and a Dim stays trivially copyable.
struct Table {
  std::mutex mutex;
  std::deque<Symbolic> entries;
};

Table& table() {
  static Table* instance = new Table;
  return *instance;
}

thread_local std::vector<std::string> guards;

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) fail("Dim: division of size {} by zero; the divisor must not be 0", a);
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}

int64_t apply(Dim::Op op, int64_t a, int64_t b) {
  switch (op) {
    case Dim::Op::add:
      return a + b;
    case Dim::Op::sub:
      return a - b;
    case Dim::Op::mul:
      return a * b;
    case Dim::Op::floor_div:
      return floor_div(a, b);
    case Dim::Op::mod:
      return a - b * floor_div(a, b);
    case Dim::Op::min:
      return std::min(a, b);
    case Dim::Op::max:
      return std::max(a, b);
    case Dim::Op::symbol:
      break;
  }
  return 0;
}

// Identities that keep expressions small: x+0, x-0, x*1, x*0, x/1, x-x.
bool simplify(Dim::Op op, Dim a, Dim b, bool same, Dim* result) {
  auto is = [](Dim d, int64_t value) { return d.is_constant() && d.value() == value; };
  switch (op) {
    case Dim::Op::add:
      if (is(a, 0)) return *result = b, true;
      if (is(b, 0)) return *result = a, true;
      return false;
    case Dim::Op::sub:
      if (is(b, 0)) return *result = a, true;
      if (same) return *result = 0, true;
      return false;
    case Dim::Op::mul:
      if (is(a, 1)) return *result = b, true;
      if (is(b, 1)) return *result = a, true;
      if (is(a, 0) || is(b, 0)) return *result = 0, true;
      return false;
    case Dim::Op::floor_div:
      if (is(b, 1)) return *result = a, true;
      return false;
    case Dim::Op::min:
    case Dim::Op::max:
      if (same) return *result = a, true;
      return false;
    default:
      return false;
  }
}

}  // namespace

static Dim from_index(size_t index) {
  return Dim(std::numeric_limits<int64_t>::min() + static_cast<int64_t>(index));
}

static Symbolic entry(Dim dim, int64_t bits) {
  (void)dim;
  std::lock_guard lock(table().mutex);
  return table().entries[static_cast<size_t>(bits - std::numeric_limits<int64_t>::min())];
}

static Dim append(Symbolic symbolic) {
  std::lock_guard lock(table().mutex);
  table().entries.push_back(std::move(symbolic));
  return from_index(table().entries.size() - 1);
}

Dim Dim::symbol(std::string name, int64_t hint) {
  return append({Op::symbol, 0, 0, hint, std::move(name)});
}

Dim Dim::combine(Op op, Dim a, Dim b) {
  if (both(a, b)) return apply(op, a.bits_, b.bits_);
  Dim result;
  if (simplify(op, a, b, a.bits_ == b.bits_, &result)) return result;
  return append({op, a, b, apply(op, a.hint(), b.hint()), {}});
}

bool Dim::compare(Dim a, Dim b, const char* relation) {
  bool equality = relation[0] == '=';
  if (a.bits_ == b.bits_) return equality;
  bool holds = equality ? a.hint() == b.hint() : a.hint() < b.hint();
  std::string text = fmt::format("{} {} {}", a.text(), relation, b.text());
  guards.push_back(holds ? text : "!(" + text + ")");
  return holds;
}

int64_t Dim::symbolic_hint() const { return entry(*this, bits_).hint; }

int64_t Dim::symbolic_value() const {
  fail(ErrorKind::not_implemented,
       "the symbolic size {} is used where a number is needed; this op has no symbolic shape rule",
       text());
}

std::string Dim::text() const {
  if (is_constant()) return std::to_string(bits_);
  Symbolic e = entry(*this, bits_);
  switch (e.op) {
    case Op::symbol:
      return e.name;
    case Op::min:
      return fmt::format("min({}, {})", e.a.text(), e.b.text());
    case Op::max:
      return fmt::format("max({}, {})", e.a.text(), e.b.text());
    default:
      break;
  }
  constexpr const char* kSigns[] = {"", "+", "-", "*", "//", "%"};
  return fmt::format("({} {} {})", e.a.text(), kSigns[static_cast<int>(e.op)], e.b.text());
}

std::vector<std::string> take_guards() { return std::exchange(guards, {}); }

}  // namespace fg

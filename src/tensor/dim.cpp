#include "tensor/dim.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "base/fail.h"

namespace fg {

struct SymbolicDim {
  Dim::Op op;
  Dim a, b;
  int64_t hint;
  std::string name;
};

namespace {

// Expressions are never freed: there are few, and a Dim stays trivially copyable.
struct Table {
  std::mutex mutex;
  std::deque<SymbolicDim> entries;
};

Table& table() {
  static Table* instance = new Table;
  return *instance;
}

thread_local std::vector<std::string> guards;

int64_t checked_divisor(int64_t a, int64_t b) {
  if (b == 0) fail("Dim: division of size {} by zero; the divisor must not be 0", a);
  return b;
}
int64_t floor_div(int64_t a, int64_t b) {
  return a / checked_divisor(a, b) - ((a % b != 0) && ((a < 0) != (b < 0)));
}
int64_t floor_mod(int64_t a, int64_t b) {
  int64_t rest = a % checked_divisor(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

[[noreturn]] void refuse_overflow(const char* operation, int64_t a, int64_t b) {
  fail("the {} of {} and {} needs more than 64 bits; use smaller sizes, steps or offsets",
       operation, a, b);
}

// The numbers are in the range of constants, and so is the result.
int64_t apply(Dim::Op op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case Dim::Op::add:
      if (__builtin_add_overflow(a, b, &result)) refuse_overflow("sum", a, b);
      return result;
    case Dim::Op::sub:
      if (__builtin_sub_overflow(a, b, &result)) refuse_overflow("difference", a, b);
      return result;
    case Dim::Op::mul:
      if (__builtin_mul_overflow(a, b, &result)) refuse_overflow("product", a, b);
      return result;
    case Dim::Op::floor_div:
      return floor_div(a, b);
    case Dim::Op::mod:
      return floor_mod(a, b);
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

static constexpr int64_t kFirstSymbol = std::numeric_limits<int64_t>::min();

static SymbolicDim entry(int64_t bits) {
  auto index = static_cast<size_t>(bits - kFirstSymbol);
  std::lock_guard lock(table().mutex);
  if (index >= table().entries.size()) {
    fail(ErrorKind::internal, "a size refers to symbol {}, but there are {}", index,
         table().entries.size());
  }
  return table().entries[index];
}

Dim Dim::append(SymbolicDim symbolic) {
  std::lock_guard lock(table().mutex);
  auto index = static_cast<int64_t>(table().entries.size());
  if (kFirstSymbol + index >= kLowest) fail("there are too many symbolic sizes; restart");
  table().entries.push_back(std::move(symbolic));
  return raw(kFirstSymbol + index);
}

void Dim::refuse_low(int64_t value) {
  fail("the number {} is out of range; sizes, strides, steps and offsets are {} or more", value,
       kLowest);
}
void Dim::refuse_high(uint64_t value) {
  fail("the number {} is out of range; sizes, strides, steps and offsets are less than 2^63",
       value);
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

int64_t Dim::symbolic_hint() const { return entry(bits_).hint; }

int64_t Dim::symbolic_value() const {
  fail(ErrorKind::not_implemented,
       "the symbolic size {} is used where a number is needed; this op has no symbolic shape rule",
       text());
}

std::string Dim::text() const {
  if (is_constant()) return std::to_string(bits_);
  SymbolicDim e = entry(bits_);
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

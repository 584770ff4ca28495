#include "tensor/dim.h"

#include <algorithm>

#include "base/fail.h"
#include "tensor/symbolic.h"

namespace fg {

namespace symbolic {

static int64_t checked_divisor(int64_t a, int64_t b) {
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

}  // namespace symbolic

namespace {

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
      return symbolic::floor_div(a, b);
    case Dim::Op::mod:
      return symbolic::floor_mod(a, b);
    case Dim::Op::min:
      return std::min(a, b);
    case Dim::Op::max:
      return std::max(a, b);
  }
  return 0;
}

// Expressions are simplified as if no divisor were 0; the guard makes that true.
void demand_divisor(Dim a, Dim b) {
  if (b.hint() == 0) {
    fail("Dim: division of size {} by zero; the divisor must not be 0", a.text());
  }
  if (known_equal(b, 0) != Known::no) symbolic::guard_or_refuse(b, Relation::not_equal, 0);
}

}  // namespace

void Dim::refuse_low(int64_t value) {
  fail("the number {} is out of range; sizes, strides, steps and offsets are {} or more", value,
       kLowest);
}
void Dim::refuse_high(uint64_t value) {
  fail("the number {} is out of range; sizes, strides, steps and offsets are less than 2^63",
       value);
}

Dim Dim::combine(Op op, Dim a, Dim b) {
  if (both(a, b)) return apply(op, a.bits_, b.bits_);
  symbolic::Space& space = symbolic::Space::of(a, b);
  if (op == Op::floor_div || op == Op::mod) demand_divisor(a, b);
  return symbolic::make(space, op, a, b);
}

Known Dim::symbolic_equal(Dim a, Dim b) {
  if (same(a, b)) return Known::yes;
  symbolic::Space& space = symbolic::Space::of(a, b);
  auto difference = symbolic::sum(symbolic::polynomial_of(a), symbolic::polynomial_of(b), -1);
  return symbolic::is_zero(*space.known(), std::move(difference), space);
}

Known Dim::symbolic_less(Dim a, Dim b) {
  if (same(a, b)) return Known::no;
  symbolic::Space& space = symbolic::Space::of(a, b);
  auto difference = symbolic::sum(symbolic::polynomial_of(a), symbolic::polynomial_of(b), -1);
  return symbolic::is_negative(*space.known(), std::move(difference), space);
}

bool Dim::decide_equal(Dim a, Dim b) {
  Known known = symbolic_equal(a, b);
  if (known != Known::unknown) return known == Known::yes;
  bool holds = a.hint() == b.hint();
  symbolic::guard_or_refuse(a, holds ? Relation::equal : Relation::not_equal, b);
  return holds;
}

bool Dim::decide_less(Dim a, Dim b) {
  Known known = symbolic_less(a, b);
  if (known != Known::unknown) return known == Known::yes;
  bool holds = a.hint() < b.hint();
  symbolic::guard_or_refuse(a, holds ? Relation::less : Relation::not_less, b);
  return holds;
}

int64_t Dim::symbolic_hint() const { return symbolic::node_of(*this).hint; }

int64_t Dim::symbolic_value() const {
  fail(ErrorKind::not_implemented,
       "the symbolic size {} is used where a number is needed; this op has no symbolic shape rule",
       text());
}

}  // namespace fg

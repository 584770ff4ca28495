// The common interface of vector lanes and expressions, so that a formula is written once, generic
// in its value type: numbers mixed into operators, and polynomials.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/level.h"

// Marks a lambda inside a formula: `flatten` alone misses clones that g++ makes of it.
#define FG_INLINED __attribute__((always_inline))

namespace fg::ir {

// True for Lanes<T, L> and Expr. `like(value, number)` is a constant of that value's type.
template <class V>
inline constexpr bool is_formula_value = false;
template <class V>
concept FormulaValue = is_formula_value<V>;
template <class N>
concept Number = std::is_arithmetic_v<N>;

template <FormulaValue V, Number N>
FG_INLINE auto operator+(const V& a, N b) {
  return a + like(a, b);
}
template <FormulaValue V, Number N>
FG_INLINE auto operator+(N a, const V& b) {
  return like(b, a) + b;
}
template <FormulaValue V, Number N>
FG_INLINE auto operator-(const V& a, N b) {
  return a - like(a, b);
}
template <FormulaValue V, Number N>
FG_INLINE auto operator-(N a, const V& b) {
  return like(b, a) - b;
}
template <FormulaValue V, Number N>
FG_INLINE auto operator*(const V& a, N b) {
  return a * like(a, b);
}
template <FormulaValue V, Number N>
FG_INLINE auto operator*(N a, const V& b) {
  return like(b, a) * b;
}
template <FormulaValue V, Number N>
FG_INLINE auto operator/(const V& a, N b) {
  return a / like(a, b);
}
template <FormulaValue V, Number N>
FG_INLINE auto operator/(N a, const V& b) {
  return like(b, a) / b;
}

template <FormulaValue V, Number N>
FG_INLINE auto operator<(const V& a, N b) {
  return a < like(a, b);
}
template <FormulaValue V, Number N>
FG_INLINE auto operator<=(const V& a, N b) {
  return a <= like(a, b);
}
template <FormulaValue V, Number N>
FG_INLINE auto operator>(const V& a, N b) {
  return like(a, b) < a;
}
template <FormulaValue V, Number N>
FG_INLINE auto operator>=(const V& a, N b) {
  return like(a, b) <= a;
}
template <FormulaValue V, Number N>
FG_INLINE auto operator==(const V& a, N b) {
  return a == like(a, b);
}
template <FormulaValue V, Number N>
FG_INLINE auto operator!=(const V& a, N b) {
  return !(a == like(a, b));
}
template <FormulaValue V, Number N>
FG_INLINE auto operator&(const V& a, N b) {
  return a & like(a, b);
}
template <FormulaValue V, Number N>
FG_INLINE auto operator|(const V& a, N b) {
  return a | like(a, b);
}
template <FormulaValue V, Number N>
FG_INLINE auto operator^(const V& a, N b) {
  return a ^ like(a, b);
}
template <FormulaValue V>
FG_INLINE auto operator>(const V& a, const V& b) {
  return b < a;
}
template <FormulaValue V>
FG_INLINE auto operator>=(const V& a, const V& b) {
  return b <= a;
}

template <FormulaValue V, Number N>
FG_INLINE V mad(const V& a, N b, const V& c) {
  return mad(a, like(a, b), c);
}
template <FormulaValue V, Number N>
FG_INLINE V mad(const V& a, const V& b, N c) {
  return mad(a, b, like(a, c));
}
template <FormulaValue V, Number N, Number M>
FG_INLINE V mad(const V& a, N b, M c) {
  return mad(a, like(a, b), like(a, c));
}
template <class M, FormulaValue V, Number N>
FG_INLINE V select(const M& mask, const V& a, N b) {
  return select(mask, a, like(a, b));
}
template <class M, FormulaValue V, Number N>
FG_INLINE V select(const M& mask, N a, const V& b) {
  return select(mask, like(b, a), b);
}

// Polynomial with the coefficients from the highest power down, by Horner's rule.
template <FormulaValue V, Number N, Number... More>
FG_INLINE V poly(const V& x, N highest, More... lower) {
  V sum = like(x, highest);
  ((sum = mad(sum, x, lower)), ...);
  return sum;
}

}  // namespace fg::ir

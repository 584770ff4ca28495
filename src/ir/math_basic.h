// Operations composed of the primitive ones, generic in the value type (Lanes or Expr): signs,
// rounding, minimum and maximum, the division family, shifts with PyTorch's rules.
#pragma once

#include "ir/formula.h"
#include "ir/runtime.h"

namespace fg::ir {

template <FormulaValue V>
FG_INLINE auto isnan(const V& x) {
  return x != x;
}
// ---- signs ----

template <FormulaValue V>
FG_INLINE auto sign_bit(const V& x) {  // of a float: the sign alone, as an integer
  return bits(x) & by_double<int64_t>(x, INT64_MIN, INT32_MIN);
}
template <FormulaValue V>
FG_INLINE V float_abs(const V& x) {
  return float_of_bits(bits(x) & by_double<int64_t>(x, INT64_MAX, INT32_MAX));
}
template <FormulaValue V>
FG_INLINE V abs(const V& x) {
  return if_float([](const auto& x) FG_INLINED { return float_abs(x); },
                  [](const auto& x) FG_INLINED { return select(x < 0, -x, x); }, x);
}
template <FormulaValue V>
FG_INLINE V copysign(const V& magnitude, const V& sign) {
  return float_of_bits(bits(float_abs(magnitude)) | sign_bit(sign));
}
// Flips the sign of x where that of `sign` is set.
template <FormulaValue V>
FG_INLINE V flip_sign(const V& x, const V& sign) {
  return float_of_bits(bits(x) ^ sign_bit(sign));
}
template <FormulaValue V>
FG_INLINE auto signbit(const V& x) {
  auto i = bits(x);
  return i < 0;
}
template <FormulaValue V>
FG_INLINE auto isinf(const V& x) {
  return float_abs(x) == __builtin_inf();
}
template <FormulaValue V>
FG_INLINE auto isfinite(const V& x) {
  return float_abs(x) < __builtin_inf();
}

template <FormulaValue V>
FG_INLINE V sign(const V& x) {  // NaN and both zeros give 0
  V zero = like(x, 0);
  return select(x > 0, like(x, 1), zero) - select(x < 0, like(x, 1), zero);
}

// ---- minimum and maximum; NaN wins, and the second of equal operands is returned. ----

template <FormulaValue V>
FG_INLINE V maximum(const V& a, const V& b) {
  return select((b < a) | (a != a), a, b);
}
template <FormulaValue V>
FG_INLINE V minimum(const V& a, const V& b) {
  return select((a < b) | (a != a), a, b);
}
template <FormulaValue V, Number N>
FG_INLINE V maximum(const V& a, N b) {
  return maximum(a, like(a, b));
}
template <FormulaValue V, Number N>
FG_INLINE V minimum(const V& a, N b) {
  return minimum(a, like(a, b));
}
// Limits without a NaN test: a NaN stays itself.
template <FormulaValue V, Number N>
FG_INLINE V at_most(const V& x, N limit) {
  return select(x > limit, limit, x);
}
template <FormulaValue V, Number N>
FG_INLINE V at_least(const V& x, N limit) {
  return select(x < limit, limit, x);
}

// ---- rounding of floats to whole numbers ----

// Adding 2^23 (2^52), whose unit in the last place is 1, rounds the fraction away.
template <FormulaValue V>
FG_INLINE V round(const V& x) {  // ties to even
  V unit = like(x, by_double(x, 0x1p52, 0x1p23));
  V magnitude = float_abs(x);
  V rounded = (magnitude + unit) - unit;
  return select(magnitude < unit, copysign(rounded, x), x);
}
template <FormulaValue V>
FG_INLINE V floor(const V& x) {
  V r = round(x);
  return copysign(select(r > x, r - 1, r), x);
}
template <FormulaValue V>
FG_INLINE V ceil(const V& x) {
  V r = round(x);
  return copysign(select(r < x, r + 1, r), x);
}
template <FormulaValue V>
FG_INLINE V trunc(const V& x) {
  V magnitude = float_abs(x), r = round(magnitude);
  return copysign(select(r > magnitude, r - 1, r), x);
}

// ---- fmod, remainder, quotients. Integers with b == 0 give 0 ----

template <FormulaValue V>
FG_INLINE V double_fmod(const V& a, const V& b) {
  return rare(!(float_abs(a) < float_abs(b)), a, Runtime::fmod, a, b);
}
// Exact: a quotient below 2^28 times an f32 divisor is exact in f64, so only the quotient's last
// unit can be wrong; everything else asks the runtime.
template <FormulaValue V>
FG_INLINE V single_fmod(const V& a, const V& b) {
  auto x = convert<double>(float_abs(a)), y = convert<double>(float_abs(b));
  auto quotient = x / y;
  auto rest = x - trunc(quotient) * y;
  rest = select(rest < 0, rest + y, rest);
  V fast = copysign(convert<float>(rest), a);
  auto easy = (convert<float>(quotient) < 0x1p28) & (float_abs(b) < __builtin_inf());
  return rare(!easy, fast, Runtime::fmod, a, b);
}
template <FormulaValue V>
FG_INLINE V fmod(const V& a, const V& b) {
  auto of_float = [](const auto& a, const auto& b) FG_INLINED {
    return if_double([](const auto& a, const auto& b) FG_INLINED { return double_fmod(a, b); },
                     [](const auto& a, const auto& b) FG_INLINED { return single_fmod(a, b); }, a,
                     b);
  };
  auto of_integer = [](const auto& a, const auto& b)
                        FG_INLINED { return select(b == 0, 0, a - (a / b) * b); };
  return if_float(of_float, of_integer, a, b);
}
// Python's %: the sign of the divisor.
template <FormulaValue V>
FG_INLINE V remainder(const V& a, const V& b) {
  V rest = fmod(a, b);
  auto wrong_side = (rest != 0) & ((rest < 0) ^ (b < 0));
  return select(wrong_side, rest + b, rest);
}
// PyTorch's rounding: consistent with remainder, and x / 0 as IEEE says.
template <FormulaValue V>
FG_INLINE V float_floor_div(const V& a, const V& b) {
  V rest = fmod(a, b), ratio = a / b;
  V quotient = (a - rest) / b;
  auto wrong_side = (rest != 0) & ((b < 0) ^ (rest < 0));
  quotient = select(wrong_side, quotient - 1, quotient);
  V whole = floor(quotient);
  whole = select(quotient - whole > 0.5, whole + 1, whole);
  V zero = copysign(like(a, 0), ratio);
  return select(b == 0, ratio, select(quotient == 0, zero, whole));
}
template <FormulaValue V>
FG_INLINE V floor_div(const V& a, const V& b) {
  auto of_integer = [](const auto& a, const auto& b) FG_INLINED {
    auto quotient = a / b, rest = a - quotient * b;
    auto wrong_side = (rest != 0) & ((rest < 0) ^ (b < 0)) & (b != 0);
    return select(wrong_side, quotient - 1, quotient);
  };
  return if_float([](const auto& a, const auto& b) FG_INLINED { return float_floor_div(a, b); },
                  of_integer, a, b);
}
template <FormulaValue V>
FG_INLINE V trunc_div(const V& a, const V& b) {
  return if_float([](const auto& a, const auto& b) FG_INLINED { return trunc(a / b); },
                  [](const auto& a, const auto& b) FG_INLINED { return a / b; }, a, b);
}

// ---- shifts: a count outside the width leaves nothing but the sign of a right shift ----

template <FormulaValue V>
FG_INLINE V left_shift(const V& a, const V& count) {
  return select((count < 0) | (count >= lane_width(a)), 0, a << count);
}
template <FormulaValue V>
FG_INLINE V right_shift(const V& a, const V& count) {
  V beyond = is_signed_lane(a) ? a >> like(a, lane_width(a) - 1) : like(a, 0);
  return select((count < 0) | (count >= lane_width(a)), beyond, a >> count);
}

}  // namespace fg::ir

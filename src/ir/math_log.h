// log and its relatives: x = m 2^k with m in [sqrt(1/2), sqrt(2)), then a polynomial in m - 1 (f32)
// or in s = (m - 1) / (m + 1) (f64, and f32 functions that compute in f64).
#pragma once

#include "ir/math_exp.h"

namespace fg::ir {

template <FormulaValue V>
struct LogParts {
  V exponent;  // k
  V fraction;  // m - 1
};

// x > 0 and finite. Adding the offset moves the boundary between exponents to sqrt(1/2).
template <FormulaValue V>
FG_INLINE LogParts<V> log_parts(const V& x) {
  auto tiny = x < by_double(x, 0x1p-1022, 0x1p-126);
  V scaled = select(tiny, x * by_double(x, 0x1p52, 0x1p23), x);
  int64_t root = by_double<int64_t>(x, 0x3fe6a09e667f3bcd, 0x3f3504f3);
  int64_t one = by_double<int64_t>(x, 0x3ff0000000000000, 0x3f800000);
  int64_t unit = by_double<int64_t>(x, 0x4330000000000000, 0x4b000000);
  int mantissa = by_double(x, 52, 23);
  auto moved = bits(scaled) + (one - root);
  V k = float_of_bits(shift_right_logical(moved, mantissa) | unit);
  k = k - select(tiny, by_double(x, 0x1p52 + 1023 + 52, 0x1p23 + 127 + 23),
                 like(x, by_double(x, 0x1p52 + 1023, 0x1p23 + 127)));
  V m = float_of_bits((moved & ((int64_t{1} << mantissa) - 1)) + root);
  return {k, m - 1};
}

// log(0) = -inf, log(negative) = NaN, log(inf) = inf, log(NaN) = NaN; otherwise `usual`.
template <FormulaValue V>
FG_INLINE V log_specials(const V& x, const V& usual) {
  auto regular = (x > 0) & (x < __builtin_inf());
  V special = select(x == 0, -__builtin_inf(), select(x < 0, __builtin_nan(""), x));
  return select(regular, usual, special);
}

// 2 atanh(s) / s - 2 for z = s^2.
template <FormulaValue V>
FG_INLINE V atanh_poly(const V& z) {
  return z * poly(z, 0x1.2f54810034b94p-3, 0x1.399ccccd3e925p-3, 0x1.74664b910f1d3p-3,
                  0x1.c71c52abaddb1p-3, 0x1.2492493fc5dc1p-2, 0x1.9999999984604p-2,
                  0x1.555555555557cp-1);
}

template <FormulaValue V>
FG_INLINE V log_sum_double(const V& k, const V& f, const V& low) {
  V s = f / (f + 2), half = 0.5 * f * f;
  V rest = mad(s, half + atanh_poly(s * s), mad(k, 0x1.a39ef35793c76p-33, low));
  return mad(k, 0x1.62e42feep-1, f - (half - rest));
}
template <FormulaValue V>
FG_INLINE V log_sum_single(const V& k, const V& f, const V& low) {
  V z = f * f;
  V p = poly(f, 0x1.1b5df4p-4f, -0x1.e303f6p-4f, 0x1.e65200p-4f, -0x1.fb3f02p-4f, 0x1.233274p-3f,
             -0x1.5562fep-3f, 0x1.99a54ap-3f, -0x1.ffffeep-3f, 0x1.555546p-2f);
  V rest = mad(f * z, p, mad(k, -0x1.bd0106p-13f, low));
  return mad(k, 0x1.63p-1f, f + (rest - 0.5f * z));
}
// k ln2 + log(1 + f) + low.
template <FormulaValue V>
FG_INLINE V log_sum(const V& k, const V& f, const V& low) {
  return if_double([](const auto& k, const auto& f, const auto& low)
                       FG_INLINED { return log_sum_double(k, f, low); },
                   [](const auto& k, const auto& f, const auto& low)
                       FG_INLINED { return log_sum_single(k, f, low); },
                   k, f, low);
}

template <FormulaValue V>
FG_INLINE V log(const V& x) {
  auto parts = log_parts(x);
  return log_specials(x, log_sum(parts.exponent, parts.fraction, like(x, 0)));
}

// log(1 + x) = log(s) + e / s for s = 1 + x rounded and its rounding error e.
template <FormulaValue V>
FG_INLINE V log1p(const V& x) {
  V sum = x + 1, back = sum - x;
  V lost = (x - (sum - back)) + (1 - back);
  auto parts = log_parts(sum);
  V result = log_specials(sum, log_sum(parts.exponent, parts.fraction, lost / sum));
  return select(float_abs(x) < by_double(x, 0x1p-54, 0x1p-25), x, result);
}

// log to another base in f64: the product with 1 / log(base) carries a low part, so that powers of
// the base come out whole. `high` and `low` sum to 1 / ln(base), `unit_*` to log_base(2).
struct LogBase {
  double high, low, unit_high, unit_low;
};
inline constexpr LogBase kBase2 = {0x1.71547652p+0, 0x1.705fc2eefa200p-33, 1, 0};
inline constexpr LogBase kBase10 = {0x1.bcb7b152p-2, 0x1.b9438ca9aadd5p-36, 0x1.34413509f6p-2,
                                    0x1.9fef311f12b36p-42};

template <FormulaValue V>
FG_INLINE V log_base_double(const V& x, const LogBase& base) {
  auto parts = log_parts(x);
  V k = parts.exponent, f = parts.fraction;
  V s = f / (f + 2), half = 0.5 * f * f;
  V high = float_of_bits(bits(f - half) & int64_t(0xffffffff00000000));
  V low = (f - high) - half + s * (half + atanh_poly(s * s));
  V product = high * base.high, whole = k * base.unit_high;
  V rest = k * base.unit_low + (low + high) * base.low + low * base.high;
  V sum = whole + product;
  return log_specials(x, (rest + ((whole - sum) + product)) + sum);
}
// ln of an f32 in f64 with a relative error of 2^-44.
template <FormulaValue V>
FG_INLINE LogParts<V> log_of_single(const V& x) {
  auto parts = log_parts(x);
  V f = parts.fraction, s = f / (f + 2), z = s * s;
  V p = poly(z, 0x1.919a7667f2af1p-3, 0x1.c6252476a0d39p-3, 0x1.2494160fecd4dp-2,
             0x1.999996d009432p-2, 0x1.55555555f42a9p-1, 2);
  return {parts.exponent, s * p};
}
template <FormulaValue V>
FG_INLINE V log_base_single(const V& x, const LogBase& base) {
  auto parts = log_of_single(convert<double>(x));
  auto sum =
      parts.fraction * (base.high + base.low) + parts.exponent * (base.unit_high + base.unit_low);
  return log_specials(x, convert<float>(sum));
}
template <FormulaValue V>
FG_INLINE V log2(const V& x) {
  return if_double([](const auto& x) FG_INLINED { return log_base_double(x, kBase2); },
                   [](const auto& x) FG_INLINED { return log_base_single(x, kBase2); }, x);
}
template <FormulaValue V>
FG_INLINE V log10(const V& x) {
  return if_double([](const auto& x) FG_INLINED { return log_base_double(x, kBase10); },
                   [](const auto& x) FG_INLINED { return log_base_single(x, kBase10); }, x);
}

// log(1 + exp(x)) without overflow.
template <FormulaValue V>
FG_INLINE V softplus(const V& x) {
  return maximum(x, 0) + log1p(exp(-float_abs(x)));
}

// ---- inverse hyperbolic functions; huge arguments are log(2x) ----

template <FormulaValue V>
FG_INLINE V asinh(const V& x) {
  V a = float_abs(x), square = a * a;
  auto huge = a > by_double(x, 0x1p28, 0x1p13);
  V argument = select(huge, a - 1, a + square / (1 + sqrt(square + 1)));
  V result = log1p(argument) + select(huge, 0x1.62e42fefa39efp-1, like(x, 0));
  return copysign(result, x);
}
template <FormulaValue V>
FG_INLINE V acosh(const V& x) {
  V t = x - 1;
  auto huge = x > by_double(x, 0x1p28, 0x1p13);
  V argument = select(huge, t, t + sqrt(t * (t + 2)));
  V result = log1p(argument) + select(huge, 0x1.62e42fefa39efp-1, like(x, 0));
  return select(x < 1, __builtin_nan(""), result);
}
template <FormulaValue V>
FG_INLINE V atanh(const V& x) {
  V a = float_abs(x);
  return copysign(0.5 * log1p((a + a) / (1 - a)), x);
}

}  // namespace fg::ir

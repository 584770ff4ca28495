// Special functions as formulas: relatives of the normal distribution, stable sums of logarithms,
// and those of the gamma and Bessel families, which ask the runtime for every lane. Apart from
// math.h, because few ops need them.
#pragma once

#include "ir/math.h"

namespace fg::ir {

// ---- functions of the runtime; NaN stays NaN

template <FormulaValue V>
FG_INLINE V at_runtime(Runtime which, const V& x) {
  return rare(x == x, x, which, x, x);
}
template <FormulaValue V>
FG_INLINE V at_runtime(Runtime which, const V& x, const V& y) {
  return rare((x == x) & (y == y), x + y, which, x, y);
}

// ---- the scaled complementary error function exp(x^2) erfc(x)

// From 25 on: 1 / (x sqrt(pi)) (1 - 1 / (2 x^2) + 3 / (2 x^2)^2 - 15 / (2 x^2)^3 + ...).
template <FormulaValue V>
FG_INLINE V erfcx_far(const V& x) {
  V inverse = 1 / x, u = 0.5 * inverse * inverse;
  V series = poly(u, 10395, -945, 105, -15, 3, -1);
  return 0x1.20dd750429b6dp-1 * inverse * mad(u, series, like(x, 1));
}
// exp(x^2), the square taken in two parts.
template <FormulaValue V>
FG_INLINE V exp_of_square(const V& x) {
  V limited = at_most(float_abs(x), by_double(x, 27.5, 10.0));
  V high = float_of_bits(bits(limited) & by_double<int64_t>(x, -0x8000000, -0x1000));
  V low = (limited - high) * (limited + high);
  auto parts = exp_parts(high * high, low);
  return scale(parts.expm1 + 1, parts.whole, parts.shifted);
}
template <FormulaValue V>
FG_INLINE V erfcx(const V& x) {
  const double far = by_double(x, 25.0, 10.0);
  V a = float_abs(x);
  V near = scaled_erfc(at_least(at_most(a, far), 0.5));
  V right = select(a > far, erfcx_far(at_least(a, 1)), near);
  V square = exp_of_square(x);
  V left = 2 * square - right;
  V middle = square * (1 - erf_small(x));
  V result = select(a < 0.5, middle, select(x < 0, left, right));
  return select(x < by_double(x, -26.7, -9.4), __builtin_inf(), select(x == x, result, x));
}

// ---- the normal distribution

// The probability above x >= 1: exp(-x^2 / 2) erfcx(x / sqrt 2) / 2, the square in two parts.
template <FormulaValue V>
FG_INLINE V normal_tail(const V& x) {
  V limited = at_most(x, by_double(x, 39.0, 14.5));
  V high = float_of_bits(bits(limited) & by_double<int64_t>(x, -0x8000000, -0x1000));
  V low = (high - limited) * (high + limited);
  auto parts = exp_parts(-0.5 * high * high, 0.5 * low);
  V scaled = 0.5 * scaled_erfc(limited * 0x1.6a09e667f3bcdp-1);
  return scale((parts.expm1 + 1) * scaled, parts.whole, parts.shifted);
}

// Far below zero the logarithm of erfc(-x / sqrt 2) / 2 comes from the scaled function.
template <FormulaValue V>
FG_INLINE V log_ndtr(const V& x) {
  V t = x * 0x1.6a09e667f3bcdp-1;
  V left = log(0.5 * erfcx(-at_most(t, 0))) - t * t;
  V middle = 0.5 * erfc(at_least(t, -1));
  V right = log1p(-select(x < 1, middle, normal_tail(at_least(x, 1))));
  V result = select(x < -1, left, right);
  return select(x == -__builtin_inf(), x, select(x == x, result, x));
}

// Wichura's algorithm AS 241 (1988): rational functions of (p - 1/2)^2 in the middle, of
// sqrt(-log p) in the tails.
template <FormulaValue V>
FG_INLINE V ndtri_middle(const V& r) {
  return poly(r, 2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
              45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
              133.14166789178437745, 3.387132872796366608) /
         poly(r, 5226.495278852545925, 28729.085735721942674, 39307.89580009271061,
              21213.794301586595867, 5394.1960214247511077, 687.1870074920579083,
              42.313330701600911252, 1.0);
}
template <FormulaValue V>
FG_INLINE V ndtri_tail(const V& r) {
  return poly(r, 7.7454501427834140764e-4, .0227238449892691845833, .24178072517745061177,
              1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055,
              4.6303378461565452959, 1.42343711074968357734) /
         poly(r, 1.05075007164441684324e-9, 5.475938084995344946e-4, .0151986665636164571966,
              .14810397642748007459, .68976733498510000455, 1.6763848301838038494,
              2.05319162663775882187, 1.0);
}
template <FormulaValue V>
FG_INLINE V ndtri_far_tail(const V& r) {
  return poly(r, 2.01033439929228813265e-7, 2.71155556874348757815e-5, .0012426609473880784386,
              .026532189526576123093, .29656057182850489123, 1.7848265399172913358,
              5.4637849111641143699, 6.6579046435011037772) /
         poly(r, 2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
              7.868691311456132591e-4, .0148753612908506148525, .13692988092273580531,
              .59983220655588793769, 1.0);
}
template <FormulaValue V>
FG_INLINE V ndtri(const V& p) {
  V q = p - 0.5, smaller = select(q < 0, p, 1 - p);
  V r = sqrt(-log(smaller));
  V tail = select(r <= 5, ndtri_tail(r - 1.6), ndtri_far_tail(r - 5));
  V middle = q * ndtri_middle(0.180625 - q * q);
  V result = select(float_abs(q) <= 0.425, middle, copysign(tail, q));
  V edge =
      select(p == 0, -__builtin_inf(), select(p == 1, __builtin_inf(), like(p, __builtin_nan(""))));
  return select((p > 0) & (p < 1), result, edge);
}

// ---- logarithms with their factors

template <FormulaValue V>
FG_INLINE V entr(const V& x) {
  V inside = select(x == 0, like(x, 0), -x * log(x));
  return select(x < 0, -__builtin_inf(), inside);
}
template <FormulaValue V>
FG_INLINE V xlog1py(const V& x, const V& y) {
  V product = x * log1p(y);
  return select((x == 0) & (y == y), like(x, 0), product);
}
// log(exp(a) + exp(b)): of equal infinities that infinity.
template <FormulaValue V>
FG_INLINE V logaddexp(const V& a, const V& b) {
  V top = maximum(a, b);
  V sum = top + log1p(exp(-float_abs(a - b)));
  return select((a == b) & isinf(a), a, sum);
}
template <FormulaValue V>
FG_INLINE V logaddexp2(const V& a, const V& b) {
  V top = maximum(a, b);
  V sum = top + log1p(exp2(-float_abs(a - b))) * 0x1.71547652b82fep+0;
  return select((a == b) & isinf(a), a, sum);
}
// sin(pi x) / (pi x), and 1 at 0.
template <FormulaValue V>
FG_INLINE V sinc(const V& x) {
  V t = x * 0x1.921fb54442d18p+1;
  return select(x == 0, like(x, 1), sin(t) / t);
}

}  // namespace fg::ir

// pow: 2^(y log2(x)). f32 computes in f64. f64 carries log2(x) as a sum of two doubles with about
// 65 good bits; products are split by hand, not by fused operations, so that every level can do it.
#pragma once

#include "ir/math_log.h"

namespace fg::ir {

// An unevaluated sum.
template <FormulaValue V>
struct TwoParts {
  V high, low;
};

template <FormulaValue V>
FG_INLINE V upper_bits(const V& x) {  // 26 significant bits: products of two of them are exact
  return float_of_bits(bits(x) & int64_t(0xfffffffff8000000));
}
// a * b exactly.
template <FormulaValue V>
FG_INLINE TwoParts<V> exact_product(const V& a, const V& b) {
  V p = a * b, ah = upper_bits(a), bh = upper_bits(b), al = a - ah, bl = b - bh;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}
// a + b exactly, for |a| >= |b|.
template <FormulaValue V>
FG_INLINE TwoParts<V> ordered_sum(const V& a, const V& b) {
  V sum = a + b;
  return {sum, (a - sum) + b};
}
template <FormulaValue V>
FG_INLINE TwoParts<V> times(const TwoParts<V>& a, const TwoParts<V>& b) {
  TwoParts<V> p = exact_product(a.high, b.high);
  return {p.high, p.low + (a.high * b.low + a.low * b.high)};
}
template <FormulaValue V>
FG_INLINE TwoParts<V> two_parts(const V& type, double high, double low) {
  return {like(type, high), like(type, low)};
}

// s = f / (f + 2) in two parts, with one division.
template <FormulaValue V>
FG_INLINE TwoParts<V> log_ratio(const V& f) {
  TwoParts<V> divisor = ordered_sum(like(f, 2), f);
  V inverse = 1 / divisor.high, s = f * inverse;
  TwoParts<V> back = exact_product(s, divisor.high);
  V rest = ((f - back.high) - back.low) - s * divisor.low;
  return {s, rest * inverse};
}

// log2(x) for a positive finite double.
template <FormulaValue V>
FG_INLINE TwoParts<V> log2_in_two_parts(const V& x) {
  auto parts = log_parts(x);
  TwoParts<V> s = log_ratio(parts.fraction), z = times(s, s);
  V tail = poly(z.high, 0x1.eb1758f2625bfp-4, 0x1.de32b219822a8p-4, 0x1.1120ba4f67b85p-3,
                0x1.3b13629706db6p-3, 0x1.745d1832c68f9p-3, 0x1.c71c71c57f784p-3,
                0x1.249249249303dp-2, 0x1.9999999999996p-2);
  TwoParts<V> third = times(z, two_parts(x, 0x1.5555555555555p-1, 0x1.5555555555555p-55));
  TwoParts<V> series = ordered_sum(third.high, z.high * z.high * tail);
  TwoParts<V> sum = ordered_sum(like(x, 2), series.high);
  sum.low = sum.low + (series.low + third.low);
  TwoParts<V> natural = times(s, sum);
  TwoParts<V> binary = times(natural, two_parts(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56));
  TwoParts<V> result = ordered_sum(parts.exponent, binary.high);
  return {result.high, result.low + binary.low};
}

// 2^(y log2(x)) for positive finite x and any y.
template <FormulaValue V>
FG_INLINE V power_double(const V& x, const V& y) {
  V limited = at_most(at_least(y, -0x1p66), 0x1p66);  // beyond, 1 is the only base that matters
  TwoParts<V> exponent = log2_in_two_parts(x);
  TwoParts<V> product = exact_product(exponent.high, limited);
  V low = product.low + exponent.low * limited;
  auto huge = float_abs(product.high) > 1200;
  low = select(huge, 0, low);
  V high = at_most(at_least(product.high, -1200), 1200);
  V magic = shifter(x), shifted = high + magic, n = shifted - magic;
  return scale(exp2_fraction((high - n) + low), n, shifted);
}
template <FormulaValue V>
FG_INLINE V power_single(const V& x, const V& y) {
  auto parts = log_of_single(convert<double>(x));
  auto limited = at_most(at_least(convert<double>(y), -0x1p66), 0x1p66);  // 0 * inf would be NaN
  auto exponent = (parts.fraction * 0x1.71547652b82fep+0 + parts.exponent) * limited;
  exponent = at_most(at_least(exponent, -200), 200);
  auto magic = shifter(exponent), shifted = exponent + magic, r = exponent - (shifted - magic);
  auto p = poly(r, 0x1.b3dcd237b4309p-24, 0x1.63e7c2f1df4e5p-20, 0x1.ffce3453d8542p-17,
                0x1.430896f7d8ed1p-13, 0x1.5d87fd90c2317p-10, 0x1.3b2ab7248e28cp-7,
                0x1.c6b08d70ca8a6p-5, 0x1.ebfbdff81b9cep-3, 0x1.62e42fefa37c7p-1);
  return convert<float>(mad(r, p, 1) * power_of_two(bits(shifted)));
}

// C99's table: a negative base needs a whole exponent, an odd one keeps the sign, and x^0 = 1^y = 1
// even for NaN.
template <FormulaValue V>
FG_INLINE V pow(const V& x, const V& y) {
  V a = float_abs(x), half = 0.5 * y;
  auto whole = round(y) == y;
  auto odd = whole & (round(half) != half);
  auto grows = (y > 0) ^ (a < 1);  // for a == 0 and a == inf
  V ends = select(grows, __builtin_inf(), like(x, 0));
  auto inside = (a > 0) & (a < __builtin_inf());
  V size =
      if_double([](const auto& x, const auto& y) FG_INLINED { return power_double(x, y); },
                [](const auto& x, const auto& y) FG_INLINED { return power_single(x, y); }, a, y);
  V result = select(inside, size, ends);
  result = select(odd & signbit(x), -result, result);
  result = select((x < 0) & inside & !whole, __builtin_nan(""), result);
  result = select(x == x, select(y == y, result, y), x);
  return select((y == 0) | (x == 1), 1, result);
}

}  // namespace fg::ir

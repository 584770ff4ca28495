// Trigonometric functions and their inverses. x = n pi/2 + r: pi/2 is split into parts short enough
// for n times a part to be exact; f32 reduces in f64. Huge arguments go to the runtime.
#pragma once

#include "ir/math_pow.h"

namespace fg::ir {

template <class V, class I>
struct Quadrant {
  V high, low;  // r
  I count;      // n in the low bits
};

// a - b exactly, in whichever order.
template <FormulaValue V>
FG_INLINE TwoParts<V> exact_difference(const V& a, const V& b) {
  V difference = a - b, back = difference + b;
  return {difference, (a - back) + ((back - difference) - b)};
}

// |x| < 2^20, so n has 20 bits; the parts of pi/2 have 33 each. The worst cancellation leaves
// 2^-55.
template <FormulaValue V>
FG_INLINE auto reduce_double(const V& x) {
  V magic = shifter(x), shifted = mad(x, 0x1.45f306dc9c883p-1, magic), n = shifted - magic;
  V first = x - n * 0x1.921fb544p+0;
  TwoParts<V> second = exact_difference(first, n * 0x1.0b4611a6p-34);
  TwoParts<V> third = exact_difference(second.high, n * 0x1.3198a2ep-69);
  V low = (second.low + third.low) - n * 0x1.b839a252049c1p-104;
  TwoParts<V> r = ordered_sum(third.high, low);
  return Quadrant<V, decltype(bits(shifted))>{r.high, r.low, bits(shifted)};
}
// |x| < 2^17; n comes from f32 so that its bits have the lanes' shape, r from f64.
template <FormulaValue V>
FG_INLINE auto reduce_single(const V& x) {
  V magic = shifter(x), shifted = mad(x, 0x1.45f306p-1f, magic);
  auto n = convert<double>(shifted - magic), wide = convert<double>(x);
  auto r = mad(n, -0x1.0b4611a626331p-34, wide - n * 0x1.921fb544p+0);
  return Quadrant<decltype(r), decltype(bits(shifted))>{r, r, bits(shifted)};
}

template <FormulaValue V>
FG_INLINE V sin_poly_double(const V& r, const V& low) {
  V u = r * r, cube = u * r;
  V p = poly(u, -0x1.aa5f78d984758p-41, 0x1.61200ae26def2p-33, -0x1.ae6451d0b51d1p-26,
             0x1.71de3a52b1732p-19, -0x1.a01a01a0185abp-13, 0x1.111111111110ap-7);
  return r - ((u * (0.5 * low - cube * p) - low) - cube * -0x1.5555555555555p-3);
}
template <FormulaValue V>
FG_INLINE V cos_poly_double(const V& r, const V& low) {
  V u = r * r, half = 0.5 * u, rest = 1 - half;
  V p = poly(u, -0x1.8f7251bd51a9bp-37, 0x1.1ee978361777bp-29, -0x1.27e4f7615c324p-22,
             0x1.a01a019bcb89fp-16, -0x1.6c16c16c14873p-10, 0x1.5555555555548p-5);
  return rest + (((1 - rest) - half) + (u * u * p - r * low));
}
template <FormulaValue V>
FG_INLINE V sin_poly_single(const V& r) {
  V u = r * r;
  return mad(r * u, poly(u, 0x1.6c8ab8p-19f, -0x1.a00e52p-13f, 0x1.111106p-7f, -0x1.555556p-3f), r);
}
template <FormulaValue V>
FG_INLINE V cos_poly_single(const V& r) {
  V u = r * r;
  V p = poly(u, 0x1.99a414p-16f, -0x1.6c0b46p-10f, 0x1.555548p-5f);
  V half = 0.5f * u, rest = 1 - half;
  return rest + (((1 - rest) - half) + u * u * p);
}

// sin(x + turn pi/2): odd n swaps sine and cosine, bit 1 of n flips the sign.
template <FormulaValue V>
FG_INLINE V sin_turned(const V& x, int turn, Runtime which) {
  auto in_double = [turn](const auto& x) FG_INLINED {
    auto q = reduce_double(x);
    auto n = q.count + turn;
    auto value =
        select((n & 1) == 1, cos_poly_double(q.high, q.low), sin_poly_double(q.high, q.low));
    return float_of_bits(bits(value) ^ ((n & 2) << 62));
  };
  auto in_single = [turn](const auto& x) FG_INLINED {
    auto q = reduce_single(x);
    auto n = q.count + turn;
    auto r = convert<float>(q.high);
    auto value = select((n & 1) == 1, cos_poly_single(r), sin_poly_single(r));
    return float_of_bits(bits(value) ^ ((n & 2) << 30));
  };
  V fast = if_double(in_double, in_single, x);
  return rare(float_abs(x) > by_double(x, 0x1p20, 0x1p17), fast, which, x, x);
}
template <FormulaValue V>
FG_INLINE V sin(const V& x) {
  V result = sin_turned(x, 0, Runtime::sin);
  return select(x == 0, x, result);  // the reduction loses the sign of zero
}
template <FormulaValue V>
FG_INLINE V cos(const V& x) {
  return sin_turned(x, 1, Runtime::cos);
}

template <FormulaValue V>
FG_INLINE V tan_double(const V& x) {
  auto q = reduce_double(x);
  V sine = sin_poly_double(q.high, q.low), cosine = cos_poly_double(q.high, q.low);
  auto odd = (q.count & 1) == 1;
  return select(odd, -cosine, sine) / select(odd, sine, cosine);
}
template <FormulaValue V>
FG_INLINE V tan_single(const V& x) {
  auto q = reduce_single(x);
  auto r = q.high, u = r * r;
  auto sine = mad(r * u,
                  poly(u, -0x1.a901e3055129dp-26, 0x1.71d675b6cdcafp-19, -0x1.a019f7a766ac7p-13,
                       0x1.1111110bbaa84p-7, -0x1.555555555209fp-3),
                  r);
  auto cosine = poly(u, 0x1.1b96fd95222d2p-29, -0x1.27df9080df8fap-22, 0x1.a019f9520f716p-16,
                     -0x1.6c16c1662e283p-10, 0x1.55555555524a8p-5, -0.5, 1);
  auto odd = (q.count & 1) == 1;
  return convert<float>(select(odd, -cosine, sine) / select(odd, sine, cosine));
}
template <FormulaValue V>
FG_INLINE V tan(const V& x) {
  V fast = if_double([](const auto& x) FG_INLINED { return tan_double(x); },
                     [](const auto& x) FG_INLINED { return tan_single(x); }, x);
  V result = rare(float_abs(x) > by_double(x, 0x1p20, 0x1p17), fast, Runtime::tan, x, x);
  return select(x == 0, x, result);
}

// ---- inverses ----

inline constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;
template <FormulaValue V>
FG_INLINE double half_pi_low(const V& x) {  // the error of pi/2 in the type of x
  return by_double(x, kHalfPiLow, -0x1.777a5cp-25);
}

template <FormulaValue V>
FG_INLINE V asin_series(const V& s, const V& z) {
  V p = if_double(
      [](const auto& z) FG_INLINED {
        return poly(z, 0x1.0c3e29436cc29p-5, -0x1.5914928c89576p-6, 0x1.62cff3b2055f4p-6,
                    0x1.ee536569bd735p-9, 0x1.6042561bf38c5p-7, 0x1.75c7cbde71030p-7,
                    0x1.ca147fa6e99a4p-7, 0x1.1c4a89b80c940p-6, 0x1.6e8bd4233bea4p-6,
                    0x1.f1c71b0cdf1b9p-6, 0x1.6db6db708ff06p-5, 0x1.33333333307d0p-4,
                    0x1.5555555555562p-3);
      },
      [](const auto& z) FG_INLINED {
        return poly(z, 0x1.33d372p-5f, 0x1.d7b478p-7f, 0x1.04aa06p-5f, 0x1.6cabd8p-5f,
                    0x1.333890p-4f, 0x1.55554cp-3f);
      },
      z);
  return odd_series(s, z, p);
}
// Above 1/2: asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
template <FormulaValue V>
FG_INLINE V asin(const V& x) {
  V a = float_abs(x);
  auto large = a > 0.5;
  V z = select(large, 0.5 - 0.5 * a, a * a), s = select(large, sqrt(z), a);
  V series = asin_series(s, z);
  V from_one = kHalfPi - (2 * series - half_pi_low(x));
  return copysign(select(large, from_one, series), x);
}
template <FormulaValue V>
FG_INLINE V acos(const V& x) {
  V a = float_abs(x), zero = like(x, 0);
  auto large = a > 0.5;
  V z = select(large, 0.5 - 0.5 * a, a * a), s = select(large, sqrt(z), x);
  V series = asin_series(s, z), twice = 2 * series, low = like(x, half_pi_low(x));
  V middle = kHalfPi - (series - low);
  V left = 2 * (kHalfPi - (series - low));
  return select(large, select(x < zero, left, twice), middle);
}

template <FormulaValue V>
FG_INLINE V atan_series(const V& t) {  // |t| <= 1
  V u = t * t;
  V p = if_double(
      [](const auto& u) FG_INLINED {
        return poly(u, 0x1.bbc144b6f5e40p-17, -0x1.3f19f9e2dcbcap-13, 0x1.b3d9454ef35c6p-11,
                    -0x1.7a21358ec79f8p-9, 0x1.d7a0bacad7533p-8, -0x1.c77df6ecee6d8p-7,
                    0x1.6832f54ce305fp-6, -0x1.e9f1b683a71a0p-6, 0x1.2c2b9b4a4413bp-5,
                    -0x1.59a29238a2d5bp-5, 0x1.82da43e813eb7p-5, -0x1.ae5e44399131fp-5,
                    0x1.e1bb9b226b45ep-5, -0x1.110e501d7e071p-4, 0x1.3b1366761aeadp-4,
                    -0x1.745d11aaf676bp-4, 0x1.c71c717f94d61p-4, -0x1.249249237e256p-3,
                    0x1.9999999995548p-3, -0x1.5555555555526p-2);
      },
      [](const auto& u) FG_INLINED {
        return poly(u, -0x1.d62f9cp-10f, 0x1.65a640p-7f, -0x1.fed158p-6f, 0x1.dac9eap-5f,
                    -0x1.583496p-4f, 0x1.c09a00p-4f, -0x1.2421b6p-3f, 0x1.9991fep-3f,
                    -0x1.55553ep-2f);
      },
      u);
  return odd_series(t, u, p);
}
// The angle of (1, a) and, with both given, of (x, y), in the first quadrant; quotient below 1.
template <FormulaValue V>
FG_INLINE V atan(const V& x) {
  V a = float_abs(x);
  auto steep = a > 1;
  V series = atan_series(select(steep, -1 / a, a));
  return copysign(select(steep, kHalfPi + (series + half_pi_low(x)), series), x);
}
template <FormulaValue V>
FG_INLINE V atan2(const V& y, const V& x) {
  V up = float_abs(y), right = float_abs(x), zero = like(x, 0);
  auto steep = up > right;
  V ratio = select(steep, -right, up) / select(steep, up, right);
  ratio = select(up == right, select(up == 0, zero, like(x, 1)), ratio);  // 0 / 0, inf / inf
  V series = atan_series(ratio), low = like(x, half_pi_low(x));
  auto left = signbit(x);
  series = select(left, -series, series);
  V whole = select(steep, kHalfPi, select(left, 2 * kHalfPi, zero));
  V rest = select(steep, low, select(left, 2 * low, zero));
  return copysign(whole + (series + rest), y);
}

}  // namespace fg::ir

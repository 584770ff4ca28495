// exp and its relatives. x = n ln2 + r with |r| <= ln2 / 2: n appears in the low bits of a sum with
// a large constant (no level has every float-to-integer conversion), exp(r) - 1 is a polynomial,
// and 2^n is two factors so that overflow and subnormal results round once.
#pragma once

#include "ir/math_basic.h"

namespace fg::ir {

template <FormulaValue V>
struct ExpParts {
  V whole;    // n
  V expm1;    // exp(r) - 1
  V shifted;  // n in the low bits
};

template <FormulaValue V>
FG_INLINE V shifter(const V& x) {  // the unit of a sum with it is 1
  return like(x, by_double(x, 0x1.8p52, 0x1.8p23));
}
// 2^n (times 2^extra) for n in the low bits.
template <class I>
FG_INLINE auto power_of_two(const I& n, int extra = 0) {
  int mantissa = static_cast<int>(by_double<int64_t>(n, 52, 23));
  int64_t one = by_double<int64_t>(n, 1023 + extra, 127 + extra) << mantissa;
  return float_of_bits((n << mantissa) + one);
}

template <FormulaValue V>
FG_INLINE V expm1_poly(const V& r) {
  V q = if_double(
      [](const auto& r) FG_INLINED {
        return poly(r, 0x1.ad7a09c7d5396p-26, 0x1.28af61e3ee793p-22, 0x1.71df2c2fe802ep-19,
                    0x1.a019980e41d9fp-16, 0x1.a01a0125b8125p-13, 0x1.6c16c184dabb1p-10,
                    0x1.1111111128e11p-7, 0x1.5555555550598p-5, 0x1.55555555554f4p-3,
                    0x1.000000000000ap-1);
      },
      [](const auto& r) FG_INLINED {
        return poly(r, 0x1.6a1f5ap-10f, 0x1.123ccap-7f, 0x1.555904p-5f, 0x1.55548ep-3f,
                    0x1.fffffcp-2f);
      },
      r);
  return mad(r * r, q, r);
}

template <FormulaValue V>
struct Reduced {
  V whole, shifted;
  V rest;  // r
};
template <FormulaValue V>
FG_INLINE Reduced<V> reduce_exp(const V& x) {
  V magic = shifter(x), shifted = mad(x, 0x1.71547652b82fep+0, magic), n = shifted - magic;
  V r = mad(n, by_double(x, -0x1.62e42feep-1, -0x1.63p-1), x);
  return {n, shifted, mad(n, by_double(x, -0x1.a39ef35793c76p-33, 0x1.bd0106p-13), r)};
}
template <FormulaValue V>
FG_INLINE ExpParts<V> exp_parts(const V& x) {
  auto reduced = reduce_exp(x);
  return {reduced.whole, expm1_poly(reduced.rest), reduced.shifted};
}
// exp(x + low), for arguments known better than a float.
template <FormulaValue V>
FG_INLINE ExpParts<V> exp_parts(const V& x, const V& low) {
  auto reduced = reduce_exp(x);
  return {reduced.whole, expm1_poly(reduced.rest + low), reduced.shifted};
}

// value * 2^n (times 2^extra): n is halved exactly enough in floating point.
template <FormulaValue V>
FG_INLINE V scale(const V& value, const V& n, const V& shifted, int extra = 0) {
  auto all = bits(shifted), half = bits(mad(n, 0.5, shifter(n)));
  return value * power_of_two(half) * power_of_two(all - half, extra);
}

// exp(x) * 2^extra, of any x.
template <FormulaValue V>
FG_INLINE V exp_scaled(const V& x, int extra) {
  V limited = at_most(at_least(x, by_double(x, -750.0, -106.0)), by_double(x, 715.0, 92.0));
  auto parts = exp_parts(limited);
  return scale(parts.expm1 + 1, parts.whole, parts.shifted, extra);
}
template <FormulaValue V>
FG_INLINE V exp(const V& x) {
  return exp_scaled(x, 0);
}
// exp of x whose result is known to be a normal number: one factor, no limits.
template <FormulaValue V>
FG_INLINE V exp_normal(const V& x) {
  auto parts = exp_parts(x);
  return (parts.expm1 + 1) * power_of_two(bits(parts.shifted));
}

template <FormulaValue V>
FG_INLINE V expm1(const V& x) {
  V limited = at_most(at_least(x, by_double(x, -40.0, -20.0)), by_double(x, 710.0, 89.0));
  auto parts = exp_parts(limited);
  V half = power_of_two(bits(parts.shifted), -1);  // 2^n itself may overflow
  V result = 2 * mad(half, parts.expm1, half - 0.5);
  return select(float_abs(x) < by_double(x, 0x1p-54, 0x1p-25), x, result);
}

template <FormulaValue V>
FG_INLINE V exp2_fraction(const V& r) {  // 2^r for |r| <= 1/2
  V p = if_double(
      [](const auto& r) FG_INLINED {
        return poly(r, 0x1.e79a6ea8d9608p-32, 0x1.e61ca28ddc288p-28, 0x1.b5267f7addf74p-24,
                    0x1.62bfc6e417545p-20, 0x1.ffcbfba7607dcp-17, 0x1.4309130f1d9ebp-13,
                    0x1.5d87fe78ce0e5p-10, 0x1.3b2ab6fb9ffddp-7, 0x1.c6b08d7049fe3p-5,
                    0x1.ebfbdff82c5a5p-3, 0x1.62e42fefa39efp-1);
      },
      [](const auto& r) FG_INLINED {
        return poly(r, 0x1.41f776p-13f, 0x1.5f4006p-10f, 0x1.3b2d58p-7f, 0x1.c6aee6p-5f,
                    0x1.ebfbdcp-3f, 0x1.62e430p-1f);
      },
      r);
  return mad(r, p, 1);
}
template <FormulaValue V>
FG_INLINE V exp2(const V& x) {
  V limited = at_most(at_least(x, by_double(x, -1080.0, -152.0)), by_double(x, 1030.0, 130.0));
  V magic = shifter(x), shifted = limited + magic, n = shifted - magic;
  return scale(exp2_fraction(limited - n), n, shifted);
}

template <FormulaValue V>
FG_INLINE V sigmoid(const V& x) {
  return 1 / (1 + exp(-x));
}

// ---- hyperbolic functions ----

// x + x^3 P(x^2) for x >= 0: of -0 the sum would lose the sign.
template <FormulaValue V>
FG_INLINE V odd_series(const V& x, const V& square, const V& p) {
  return mad(x * square, p, x);
}

template <FormulaValue V>
FG_INLINE V tanh_poly(const V& u) {
  return if_double(
      [](const auto& u) FG_INLINED {
        return poly(u, 0x1.9515a65926eaap-18, -0x1.fa3ec5dba4a17p-16, 0x1.7ffa53f2956f9p-14,
                    -0x1.f109e0012e735p-13, 0x1.350aad2b3d30ep-11, -0x1.7d9c18c141778p-10,
                    0x1.d6d358145cd92p-9, -0x1.226e32c0a8cf0p-7, 0x1.664f48703b8ebp-6,
                    -0x1.ba1ba1b9cea6bp-5, 0x1.1111111110c0cp-3, -0x1.5555555555552p-2);
      },
      [](const auto& u) FG_INLINED {
        return poly(u, 0x1.1904f0p-9f, -0x1.0c0274p-7f, 0x1.638ef6p-6f, -0x1.b9eefcp-5f,
                    0x1.111068p-3f, -0x1.555554p-2f);
      },
      u);
}
template <FormulaValue V>
FG_INLINE V tanh(const V& x) {
  V magnitude = float_abs(x), u = x * x;
  V limited = at_most(magnitude, by_double(x, 20.0, 10.0));
  V large = 1 - 2 / (exp_normal(limited + limited) + 1);
  V small = odd_series(magnitude, u, tanh_poly(u));
  return copysign(select(magnitude < 0.625, small, large), x);
}

template <FormulaValue V>
FG_INLINE V sinh_poly(const V& u) {
  return if_double(
      [](const auto& u) FG_INLINED {
        return poly(u, 0x1.b4df51466c976p-41, 0x1.611a186b46dc4p-33, 0x1.ae64677e4e961p-26,
                    0x1.71de3a464323ep-19, 0x1.a01a01a028084p-13, 0x1.11111111110b4p-7,
                    0x1.5555555555556p-3);
      },
      [](const auto& u) FG_INLINED {
        return poly(u, 0x1.7a26acp-19f, 0x1.9ffe10p-13f, 0x1.111136p-7f, 0x1.555556p-3f);
      },
      u);
}
template <FormulaValue V>
FG_INLINE V sinh(const V& x) {
  V magnitude = float_abs(x), u = x * x;
  V half = exp_scaled(magnitude, -1);
  V large = half - 0.25 / half;
  return copysign(select(magnitude < 1, odd_series(magnitude, u, sinh_poly(u)), large), x);
}
template <FormulaValue V>
FG_INLINE V cosh(const V& x) {
  V half = exp_scaled(float_abs(x), -1);
  return half + 0.25 / half;
}

}  // namespace fg::ir

// The error function and its relatives, and those that always ask the runtime. Up to a boundary erf
// is x times a polynomial in x^2. Beyond, f64 uses exp(x^2) erfc(x) (x + 2), which is smooth in
// (x - 2) / (x + 2); f32 takes the logarithm of erfc as a polynomial, its result being so close
// to 1.
#pragma once

#include "ir/math_trig.h"

namespace fg::ir {

template <FormulaValue V>
FG_INLINE V erf_small(const V& x) {  // |x| <= 1
  V u = x * x;
  V q = if_double(
      [](const auto& u) FG_INLINED {
        return poly(u, 0x1.0627c8cc91243p-34, -0x1.38ac4d49f14c7p-30, 0x1.f7b9abd033bd7p-27,
                    -0x1.5f1f425a5111fp-23, 0x1.b9df308712c64p-20, -0x1.f4d1e43814e23p-17,
                    0x1.f9a321e4e4e08p-14, -0x1.c02db3db4af66p-11, 0x1.565bcd0dbd9a1p-8,
                    -0x1.b82ce31284f3bp-6, 0x1.ce2f21a042b34p-4, -0x1.812746b0379e6p-2,
                    0x1.06eba8214db69p-3);
      },
      [](const auto& u) FG_INLINED {
        return poly(u, 0x1.4ae44cp-14f, -0x1.a485cap-11f, 0x1.5419f2p-8f, -0x1.b7fbb4p-6f,
                    0x1.ce2d20p-4f, -0x1.81273ep-2f, 0x1.06eba8p-3f);
      },
      u);
  return mad(x, q, x);
}

// exp(x^2) erfc(x) for x >= 1/2.
template <FormulaValue V>
FG_INLINE V scaled_erfc(const V& x) {
  V sum = x + 2, t = (x - 2) / sum;
  V p = if_double(
      [](const auto& t) FG_INLINED {
        return poly(t, -0x1.4e958f9052771p-24, 0x1.bb4291aef6ddcp-23, 0x1.6d0c075715760p-23,
                    -0x1.1b52c9dbd33b4p-21, -0x1.5dc6c6d350d2ep-21, 0x1.6fe350f6ab160p-23,
                    0x1.0d1c0c509efdfp-19, 0x1.deafc56384292p-19, -0x1.2b08aa8b47cbcp-20,
                    -0x1.0e1a539248d74p-16, -0x1.6c1687c2a68ddp-16, 0x1.1e6e09980d912p-15,
                    0x1.2efab6d5292d0p-13, 0x1.2055024ab4833p-15, -0x1.5ba43c5e4c364p-11,
                    -0x1.b6fbfaa423be7p-11, 0x1.9517bb80f8a54p-9, 0x1.a89eaff9b8dffp-8,
                    -0x1.606e41553a341p-6, -0x1.2a88e6107e1b3p-5, 0x1.1e2deea6b11a6p-2,
                    -0x1.5fd386754eff8p-1, 0x1.058671b52c776p+0);
      },
      [](const auto& t) FG_INLINED {
        return poly(t, 0x1.b564dep-14f, -0x1.1a6b1ap-11f, -0x1.cde226p-11f, 0x1.8fcc20p-9f,
                    0x1.a94f0ep-8f, -0x1.605722p-6f, -0x1.2a8aeap-5f, 0x1.1e2ddcp-2f,
                    -0x1.5fd386p-1f, 0x1.058672p+0f);
      },
      t);
  return p / sum;
}

template <FormulaValue V>
FG_INLINE V erf(const V& x) {
  V a = float_abs(x);
  auto in_double = [](const auto& a) FG_INLINED {
    auto limited = at_least(at_most(a, 6), 1);
    return 1 - exp_normal(-(limited * limited)) * scaled_erfc(limited);
  };
  auto in_single = [](const auto& a) FG_INLINED {
    auto limited = at_most(a, 4);
    return 1 -
           exp_normal(poly(limited, 0x1.871f5cp-13f, -0x1.8284e8p-9f, 0x1.65e13ap-6f,
                           -0x1.a65f0ep-4f, -0x1.46b92ap-1f, -0x1.208978p+0f, -0x1.63e0c8p-12f));
  };
  V large = if_double(in_double, in_single, a);
  return select(a < 1, erf_small(x), copysign(large, x));
}

// erfc(a) for a >= 1/2: the square is taken in two parts, the result scaled at the very end.
template <FormulaValue V>
FG_INLINE V erfc_large(const V& a) {
  V limited = at_most(a, by_double(a, 28.0, 10.2));
  V high = float_of_bits(bits(limited) & by_double<int64_t>(a, -0x8000000, -0x1000));
  V low = (high - limited) * (high + limited);
  auto parts = exp_parts(-(high * high), low);
  return scale((parts.expm1 + 1) * scaled_erfc(limited), parts.whole, parts.shifted);
}
template <FormulaValue V>
FG_INLINE V erfc(const V& x) {
  V a = float_abs(x), large = erfc_large(a);
  return select(a < 0.5, 1 - erf_small(x), select(x < 0, 2 - large, large));
}

// A rational start, then Halley's steps on erf, or on erfc where 1 - |y| is exact.
template <FormulaValue V>
FG_INLINE V erfinv(const V& y) {
  V a = float_abs(y), square = a * a, rest = 1 - a;
  auto large = a > 0.7;
  V middle = a * poly(square, -0.140543331, 0.914624893, -1.645349621, 0.886226899) /
             poly(square, 0.012229801, -0.329097515, 1.442710462, -2.118377725, 1);
  V z = sqrt(-log(0.5 * rest));
  V tail = poly(z, 1.641345311, 3.429567803, -1.624906493, -1.970840454) /
           poly(z, 1.637067800, 3.543889200, 1);
  V x = select(large, tail, middle);
  for (int step = 0; step < 2; ++step) {
    V excess = select(large, rest - erfc(x), erf(x) - a);
    V newton = excess / (0x1.20dd750429b6dp+0 * exp(-(x * x)));
    x = x - newton / mad(x, newton, 1);
  }
  V result = select(a == 1, __builtin_inf(), select(a > 1, __builtin_nan(""), x));
  return copysign(result, y);
}

template <FormulaValue V>
FG_INLINE V lgamma(const V& x) {
  return rare(x == x, x, Runtime::lgamma, x, x);
}
template <FormulaValue V>
FG_INLINE V digamma(const V& x) {
  return rare(x == x, x, Runtime::digamma, x, x);
}

}  // namespace fg::ir

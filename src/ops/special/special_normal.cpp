// The error function's inverse and scaled form, the normal distribution function.
#include "ir/math_special.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/special/special.h"

namespace fg {

using namespace ops::entry;

namespace {

constexpr double kInf = __builtin_inf(), kNaN = __builtin_nan("");
constexpr double kSqrtPi = 1.7724538509055160273, kSqrtTwo = 1.4142135623730950488;
constexpr double kSqrtTwoPi = kSqrtPi * kSqrtTwo;

Samples around(double low, double high) {
  return {{{sample({2, 3}, low, high)}},
          {{tensor({0.0, -0.0, 1.0, -1.0, kInf, -kInf, kNaN}, kFloat64)}, "extremes", false},
          {{tensor({1, 2, 0})}, "integers", false}};
}

const Registered erfinv_p = elementwise<Types::floating, 1>("erfinv", [](auto x) FG_INLINED {
                              return ir::erfinv(x);
                            }).vjp("ErfinvBackward0", wrt(0, saves::out(), [](const Vjp& v) {
                                     return v.grad() * (exp(v.out() * v.out()) * (kSqrtPi / 2));
                                   }));
const auto erfinv_entry = define_as<erfinv_p>(erfinv, "The inverse of the error function.")
                              .also_named({"special.erfinv"})
                              .inplace()
                              .out()
                              .samples([] { return around(-0.9, 0.9); });

const Registered erfcx_p =
    elementwise<Types::floating, 1>("erfcx", [](auto x) FG_INLINED {
      return ir::erfcx(x);
    }).vjp("SpecialErfcxBackward0", wrt(0, saves::in(0) | saves::out(), [](const Vjp& v) {
             return v.grad() * (v.in(0) * v.out() * 2 - 2 / kSqrtPi);
           }));
const auto erfcx_entry =
    define_as<erfcx_p>(special_erfcx, "exp(self^2) erfc(self), precise for large self.")
        .also_named({"special.erfcx"})
        .shown(Shown::nowhere)
        .out()
        .samples([] { return around(-2, 9); });

const auto ndtr_entry =
    define(special_ndtr, "The distribution function of the standard normal distribution.",
           [](const Tensor& self) { return erfc(self * (-1 / kSqrtTwo)) * 0.5; })
        .also_named({"special.ndtr"})
        .shown(Shown::nowhere)
        .out()
        .samples([] { return around(-3, 3); });

const Registered ndtri_p = elementwise<Types::floating, 1>("ndtri", [](auto x) FG_INLINED {
                             return ir::ndtri(x);
                           }).vjp("SpecialNdtriBackward0", wrt(0, saves::out(), [](const Vjp& v) {
                                    return v.grad() * (exp(v.out() * v.out() * 0.5) * kSqrtTwoPi);
                                  }));
const auto ndtri_entry =
    define_as<ndtri_p>(special_ndtri, "The number below which a normal value is with chance self.")
        .also_named({"special.ndtri"})
        .shown(Shown::nowhere)
        .out()
        .samples([] { return around(0.05, 0.95); });

const Registered log_ndtr_p =
    elementwise<Types::floating, 1>("log_ndtr", [](auto x) FG_INLINED {
      return ir::log_ndtr(x);
    }).vjp("SpecialLogNdtrBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
             return v.grad() / special_erfcx(v.in(0) * (-1 / kSqrtTwo)) * (kSqrtTwo / kSqrtPi);
           }));
const auto log_ndtr_entry =
    define_as<log_ndtr_p>(special_log_ndtr, "The logarithm of ndtr, precise far below zero.")
        .also_named({"special.log_ndtr"})
        .shown(Shown::nowhere)
        .out()
        .samples([] { return around(-9, 3); });

}  // namespace
}  // namespace fg

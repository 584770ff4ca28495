// Circular and hyperbolic functions, and the error function.
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"

namespace fg {

using namespace ops::entry;

namespace {

Samples around(double low, double high) {
  double inf = __builtin_inf();
  return {{{sample({2, 3}, low, high)}},
          {{tensor({0.0, -0.0, 1.0, -1.0, 100.0, inf, -inf, __builtin_nan("")}, kFloat64)},
           "extremes",
           false},
          {{tensor({1, 2, 0})}, "integers", false}};
}
Samples anywhere() { return around(-2, 2); }
Samples within_one() { return around(-0.9, 0.9); }
Samples above_one() { return around(1.2, 3); }
Samples within_a_quarter() { return around(-1.2, 1.2); }

// 1 / sqrt(1 - x^2)
Tensor arc_slope(const Tensor& x) { return rsqrt(1 - x * x); }
Tensor bell(const Tensor& x) { return exp(-(x * x)) * 1.1283791670955126; }  // 2 / sqrt(pi)

const Registered sin_p = elementwise<Types::floating, 1>("sin", [](auto x) FG_INLINED {
                           return ir::sin(x);
                         }).vjp("SinBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                  return v.grad() * cos(v.in(0));
                                }));
const auto sin_entry = define_as<sin_p>(entries::sin, "The sine of radians.")
                           .inplace_as_function()
                           .inplace()
                           .out()
                           .samples(anywhere);

const Registered cos_p = elementwise<Types::floating, 1>("cos", [](auto x) FG_INLINED {
                           return ir::cos(x);
                         }).vjp("CosBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                  return v.grad() * -sin(v.in(0));
                                }));
const auto cos_entry = define_as<cos_p>(entries::cos, "The cosine of radians.")
                           .inplace_as_function()
                           .inplace()
                           .out()
                           .samples(anywhere);

const Registered tan_p = elementwise<Types::floating, 1>("tan", [](auto x) FG_INLINED {
                           return ir::tan(x);
                         }).vjp("TanBackward0", wrt(0, saves::out(), [](const Vjp& v) {
                                  return v.grad() * (1 + v.out() * v.out());
                                }));
const auto tan_entry = define_as<tan_p>(entries::tan, "The tangent of radians.")
                           .inplace_as_function()
                           .inplace()
                           .out()
                           .samples(within_a_quarter);

const Registered asin_p = elementwise<Types::floating, 1>("asin", [](auto x) FG_INLINED {
                            return ir::asin(x);
                          }).vjp("AsinBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                   return v.grad() * arc_slope(v.in(0));
                                 }));
const auto asin_entry = define_as<asin_p>(entries::asin, "The angle whose sine is self.")
                            .also_named({"arcsin", "arcsin_"})
                            .inplace_as_function()
                            .inplace()
                            .out()
                            .samples(within_one);

const Registered acos_p = elementwise<Types::floating, 1>("acos", [](auto x) FG_INLINED {
                            return ir::acos(x);
                          }).vjp("AcosBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                   return v.grad() * -arc_slope(v.in(0));
                                 }));
const auto acos_entry = define_as<acos_p>(entries::acos, "The angle whose cosine is self.")
                            .also_named({"arccos", "arccos_"})
                            .inplace_as_function()
                            .inplace()
                            .out()
                            .samples(within_one);

const Registered atan_p = elementwise<Types::floating, 1>("atan", [](auto x) FG_INLINED {
                            return ir::atan(x);
                          }).vjp("AtanBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                   return v.grad() / (v.in(0) * v.in(0) + 1);
                                 }));
const auto atan_entry = define_as<atan_p>(entries::atan, "The angle whose tangent is self.")
                            .also_named({"arctan", "arctan_"})
                            .inplace_as_function()
                            .inplace()
                            .out()
                            .samples(anywhere);

const Registered sinh_p = elementwise<Types::floating, 1>("sinh", [](auto x) FG_INLINED {
                            return ir::sinh(x);
                          }).vjp("SinhBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                   return v.grad() * cosh(v.in(0));
                                 }));
const auto sinh_entry = define_as<sinh_p>(entries::sinh, "The hyperbolic sine.")
                            .inplace_as_function()
                            .inplace()
                            .out()
                            .samples(anywhere);

const Registered cosh_p = elementwise<Types::floating, 1>("cosh", [](auto x) FG_INLINED {
                            return ir::cosh(x);
                          }).vjp("CoshBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                   return v.grad() * sinh(v.in(0));
                                 }));
const auto cosh_entry = define_as<cosh_p>(entries::cosh, "The hyperbolic cosine.")
                            .inplace_as_function()
                            .inplace()
                            .out()
                            .samples(anywhere);

const Registered asinh_p = elementwise<Types::floating, 1>("asinh", [](auto x) FG_INLINED {
                             return ir::asinh(x);
                           }).vjp("AsinhBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                    return v.grad() * rsqrt(v.in(0) * v.in(0) + 1);
                                  }));
const auto asinh_entry = define_as<asinh_p>(entries::asinh, "The inverse of sinh.")
                             .also_named({"arcsinh", "arcsinh_"})
                             .inplace_as_function()
                             .inplace()
                             .out()
                             .samples(anywhere);

const Registered acosh_p = elementwise<Types::floating, 1>("acosh", [](auto x) FG_INLINED {
                             return ir::acosh(x);
                           }).vjp("AcoshBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                    return v.grad() * rsqrt(v.in(0) * v.in(0) - 1);
                                  }));
const auto acosh_entry = define_as<acosh_p>(entries::acosh, "The inverse of cosh.")
                             .also_named({"arccosh", "arccosh_"})
                             .inplace_as_function()
                             .inplace()
                             .out()
                             .samples(above_one);

const Registered atanh_p = elementwise<Types::floating, 1>("atanh", [](auto x) FG_INLINED {
                             return ir::atanh(x);
                           }).vjp("AtanhBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                    return v.grad() / (1 - v.in(0) * v.in(0));
                                  }));
const auto atanh_entry = define_as<atanh_p>(entries::atanh, "The inverse of tanh.")
                             .also_named({"arctanh", "arctanh_"})
                             .inplace_as_function()
                             .inplace()
                             .out()
                             .samples(within_one);

const Registered erf_p = elementwise<Types::floating, 1>("erf", [](auto x) FG_INLINED {
                           return ir::erf(x);
                         }).vjp("ErfBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                  return v.grad() * bell(v.in(0));
                                }));
const auto erf_entry = define_as<erf_p>(entries::erf, "The error function.")
                           .also_named({"special.erf"})
                           .inplace_as_function()
                           .inplace()
                           .out()
                           .samples(anywhere);

const Registered erfc_p = elementwise<Types::floating, 1>("erfc", [](auto x) FG_INLINED {
                            return ir::erfc(x);
                          }).vjp("ErfcBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                   return v.grad() * -bell(v.in(0));
                                 }));
const auto erfc_entry = define_as<erfc_p>(entries::erfc, "1 - erf(self), precise for large self.")
                            .also_named({"special.erfc"})
                            .inplace_as_function()
                            .inplace()
                            .out()
                            .samples(anywhere);

const Registered tanh_backward_p =
    elementwise<Types::floating_only, 2>(
        "tanh_backward", [](auto grad, auto y) FG_INLINED { return grad * (1 - y * y); })
        .linear_in({0})
        .vjp("TanhBackwardBackward0",
             wrt(0, saves::in(1), [](const Vjp& v) { return tanh_backward(v.grad(), v.in(1)); }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return v.grad() * v.in(0) * (v.in(1) * -2); }));
const auto tanh_backward_entry =
    define_as<tanh_backward_p>(tanh_backward,
                               "The gradient of tanh from that of its output, and the output.")
        .shown(Shown::nowhere)
        .samples([] { return Samples{{{sample({3}), sample({3}, -0.9, 0.9)}}}; });
const Registered tanh_p = elementwise<Types::floating, 1>("tanh", [](auto x) FG_INLINED {
                            return ir::tanh(x);
                          }).vjp("TanhBackward0", wrt(0, saves::out(), [](const Vjp& v) {
                                   return tanh_backward(v.grad(), v.out());
                                 }));
const auto tanh_entry = define_as<tanh_p>(entries::tanh, "The hyperbolic tangent.")
                            .inplace_as_function()
                            .inplace()
                            .out()
                            .samples(anywhere);

}  // namespace

Tensor Tensor::sin() const { return fg::sin(*this); }
Tensor Tensor::cos() const { return fg::cos(*this); }
Tensor Tensor::tan() const { return fg::tan(*this); }
Tensor Tensor::asin() const { return fg::asin(*this); }
Tensor Tensor::acos() const { return fg::acos(*this); }
Tensor Tensor::atan() const { return fg::atan(*this); }
Tensor Tensor::sinh() const { return fg::sinh(*this); }
Tensor Tensor::cosh() const { return fg::cosh(*this); }
Tensor Tensor::tanh() const { return fg::tanh(*this); }
Tensor Tensor::erf() const { return fg::erf(*this); }
Tensor& Tensor::sin_() const { return fg::sin_(*this); }
Tensor& Tensor::cos_() const { return fg::cos_(*this); }
Tensor& Tensor::tanh_() const { return fg::tanh_(*this); }

}  // namespace fg

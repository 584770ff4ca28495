// Roots, exponentials and logarithms.
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"

namespace fg {

using namespace ops::entry;

namespace {

Samples around(double low, double high) {
  double inf = __builtin_inf();
  return {
      {{sample({2, 3}, low, high)}},
      {{tensor({0.0, -0.0, 1.0, -1.0, inf, -inf, __builtin_nan("")}, kFloat64)}, "extremes", false},
      {{tensor({1, 2, 0})}, "integers", false}};
}
Samples anywhere() { return around(-2, 2); }
Samples above_zero() { return around(0.3, 3); }

constexpr double kLn2 = 0.6931471805599453, kLn10 = 2.3025850929940457;

const Registered sqrt_p = elementwise<Types::floating, 1>("sqrt", [](auto x) FG_INLINED {
                            return ir::sqrt(x);
                          }).vjp("SqrtBackward0", wrt(0, saves::out(), [](const Vjp& v) {
                                   return v.grad() / (v.out() * 2);
                                 }));
const auto sqrt_entry = define_as<sqrt_p>(entries::sqrt, "The square root.")
                            .inplace_as_function()
                            .inplace()
                            .out()
                            .samples(above_zero);

const Registered rsqrt_p = elementwise<Types::floating, 1>("rsqrt", [](auto x) FG_INLINED {
                             return ir::rsqrt(x);
                           }).vjp("RsqrtBackward0", wrt(0, saves::out(), [](const Vjp& v) {
                                    return v.grad() * (pow(v.out(), 3) * -0.5);
                                  }));
const auto rsqrt_entry = define_as<rsqrt_p>(rsqrt, "One over the square root.")
                             .inplace_as_function()
                             .inplace()
                             .out()
                             .samples(above_zero);

const Registered reciprocal_p =
    elementwise<Types::floating, 1>("reciprocal", [](auto x) FG_INLINED {
      return 1 / x;
    }).vjp("ReciprocalBackward0", wrt(0, saves::out(), [](const Vjp& v) {
             return -v.grad() * (v.out() * v.out());
           }));
const auto reciprocal_entry = define_as<reciprocal_p>(reciprocal, "One over self.")
                                  .inplace_as_function()
                                  .inplace()
                                  .out()
                                  .samples(above_zero);

const Registered exp_p =
    elementwise<Types::floating, 1>("exp", [](auto x) FG_INLINED {
      return ir::exp(x);
    }).vjp("ExpBackward0", wrt(0, saves::out(), [](const Vjp& v) { return v.grad() * v.out(); }));
const auto exp_entry = define_as<exp_p>(entries::exp, "e to the power self.")
                           .inplace_as_function()
                           .inplace()
                           .out()
                           .samples(anywhere);

const Registered exp2_p = elementwise<Types::floating, 1>("exp2", [](auto x) FG_INLINED {
                            return ir::exp2(x);
                          }).vjp("Exp2Backward0", wrt(0, saves::out(), [](const Vjp& v) {
                                   return v.grad() * v.out() * kLn2;
                                 }));
const auto exp2_entry = define_as<exp2_p>(entries::exp2, "2 to the power self.")
                            .also_named({"special.exp2"})
                            .inplace_as_function()
                            .inplace()
                            .out()
                            .samples(anywhere);

const Registered expm1_p = elementwise<Types::floating, 1>("expm1", [](auto x) FG_INLINED {
                             return ir::expm1(x);
                           }).vjp("Expm1Backward0", wrt(0, saves::out(), [](const Vjp& v) {
                                    return v.grad() * (v.out() + 1);
                                  }));
const auto expm1_entry =
    define_as<expm1_p>(entries::expm1, "e to the power self, minus one: precise near zero.")
        .also_named({"special.expm1"})
        .inplace_as_function()
        .inplace()
        .out()
        .samples(anywhere);

const Registered log_p =
    elementwise<Types::floating, 1>("log", [](auto x) FG_INLINED {
      return ir::log(x);
    }).vjp("LogBackward0", wrt(0, saves::in(0), [](const Vjp& v) { return v.grad() / v.in(0); }));
const auto log_entry = define_as<log_p>(entries::log, "The natural logarithm.")
                           .inplace_as_function()
                           .inplace()
                           .out()
                           .samples(above_zero);

const Registered log1p_p = elementwise<Types::floating, 1>("log1p", [](auto x) FG_INLINED {
                             return ir::log1p(x);
                           }).vjp("Log1PBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                    return v.grad() / (v.in(0) + 1);
                                  }));
const auto log1p_entry =
    define_as<log1p_p>(entries::log1p, "The natural logarithm of 1 + self: precise near zero.")
        .also_named({"special.log1p"})
        .inplace_as_function()
        .inplace()
        .out()
        .samples(above_zero);

const Registered log2_p = elementwise<Types::floating, 1>("log2", [](auto x) FG_INLINED {
                            return ir::log2(x);
                          }).vjp("Log2Backward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                   return v.grad() / (v.in(0) * kLn2);
                                 }));
const auto log2_entry = define_as<log2_p>(entries::log2, "The logarithm to base 2.")
                            .inplace_as_function()
                            .inplace()
                            .out()
                            .samples(above_zero);

const Registered log10_p = elementwise<Types::floating, 1>("log10", [](auto x) FG_INLINED {
                             return ir::log10(x);
                           }).vjp("Log10Backward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                    return v.grad() / (v.in(0) * kLn10);
                                  }));
const auto log10_entry = define_as<log10_p>(entries::log10, "The logarithm to base 10.")
                             .inplace_as_function()
                             .inplace()
                             .out()
                             .samples(above_zero);

// ---- sigmoid and its inverse

const Registered sigmoid_backward_p =
    elementwise<Types::floating_only, 2>(
        "sigmoid_backward", [](auto grad, auto y) FG_INLINED { return grad * ((1 - y) * y); })
        .linear_in({0})
        .vjp("SigmoidBackwardBackward0",
             wrt(0, saves::in(1), [](const Vjp& v) { return sigmoid_backward(v.grad(), v.in(1)); }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return v.grad() * v.in(0) * (1 - v.in(1) * 2); }));
const auto sigmoid_backward_entry =
    define_as<sigmoid_backward_p>(
        sigmoid_backward, "The gradient of sigmoid from that of its output, and the output.")
        .shown(Shown::nowhere)
        .samples([] { return Samples{{{sample({3}), sample({3}, 0.1, 0.9)}}}; });
const Registered sigmoid_p = elementwise<Types::floating, 1>("sigmoid", [](auto x) FG_INLINED {
                               return ir::sigmoid(x);
                             }).vjp("SigmoidBackward0", wrt(0, saves::out(), [](const Vjp& v) {
                                      return sigmoid_backward(v.grad(), v.out());
                                    }));
const auto sigmoid_entry = define_as<sigmoid_p>(sigmoid, "1 / (1 + exp(-self)).")
                               .also_named({"special.expit"})
                               .inplace_as_function()
                               .inplace()
                               .out()
                               .samples(anywhere);

struct Margin {
  OptFloat eps;
  bool operator==(const Margin&) const = default;
};
const Registered logit_p =
    elementwise<Types::floating, 1, Margin>("logit", [](auto x, const Margin& p) FG_INLINED {
      if (p.eps) x = ir::at_most(ir::at_least(x, *p.eps), 1 - *p.eps);
      return ir::log(x / (1 - x));
    }).vjp("LogitBackward0", wrt(0, saves::in(0), [](const Vjp& v, const Margin& p) {
             Tensor x = v.in(0), slope = v.grad() / (x * (1 - x));
             double margin = p.eps.value_or(0), outside = p.eps ? 0.0 : __builtin_nan("");
             return where(logical_and(x >= margin, x <= 1 - margin), slope, outside);
           }));
const auto logit_entry =
    define_as<logit_p>(logit,
                       "log(self / (1 - self)), self first clamped to [eps, 1 - eps] if given.")
        .also_named({"special.logit"})
        .inplace_as_function()
        .inplace()
        .out()
        .samples([] {
          return Samples{{{sample({3}, 0.2, 0.8)}}, {{sample({3}, -1, 2), Scalar(0.1)}, "eps"}};
        });

}  // namespace

Tensor Tensor::sqrt() const { return fg::sqrt(*this); }
Tensor Tensor::rsqrt() const { return fg::rsqrt(*this); }
Tensor Tensor::reciprocal() const { return fg::reciprocal(*this); }
Tensor Tensor::exp() const { return fg::exp(*this); }
Tensor Tensor::expm1() const { return fg::expm1(*this); }
Tensor Tensor::log() const { return fg::log(*this); }
Tensor Tensor::log1p() const { return fg::log1p(*this); }
Tensor Tensor::log2() const { return fg::log2(*this); }
Tensor Tensor::log10() const { return fg::log10(*this); }
Tensor Tensor::sigmoid() const { return fg::sigmoid(*this); }
Tensor& Tensor::sqrt_() const { return fg::sqrt_(*this); }
Tensor& Tensor::exp_() const { return fg::exp_(*this); }
Tensor& Tensor::log_() const { return fg::log_(*this); }
Tensor& Tensor::sigmoid_() const { return fg::sigmoid_(*this); }

}  // namespace fg

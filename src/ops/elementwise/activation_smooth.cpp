// gelu, silu, mish, softplus, log_sigmoid. The backward functions are fused; their own gradients,
// wanted only for second derivatives, are spelled with functions of tensors.
#include "base/fail.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"

namespace fg {

using namespace ops::entry;

namespace {

Samples values() {
  double inf = __builtin_inf();
  return {
      {{sample({2, 5})}},
      {{tensor({0.0, -0.0, 50.0, -50.0, inf, __builtin_nan("")}, kFloat64)}, "extremes", false}};
}
Samples grads_and_values() { return {{{sample({5}), sample({5})}}}; }

// ---- gelu

constexpr double kRootHalf = 0.7071067811865476, kRootTwoOverPi = 0.7978845608028654,
                 kCubic = 0.044715;

// The second derivatives.
Tensor gelu_bend(const Tensor& x) {
  Tensor square = x * x;
  return exp(square * -0.5) * (0.5 * kRootTwoOverPi) * (2 - square);
}
Tensor gelu_tanh_bend(const Tensor& x) {
  Tensor square = x * x, t = tanh((x + square * x * kCubic) * kRootTwoOverPi);
  Tensor slope = (square * (3 * kCubic) + 1) * kRootTwoOverPi;
  Tensor bend = x * (6 * kCubic * kRootTwoOverPi);
  Tensor rest = 1 - t * t;
  return rest * (slope + x * 0.5 * (bend - t * slope * slope * 2));
}
Tensor gelu_second(const Vjp& v, const std::string& approximate) {
  Tensor bend = approximate == "tanh" ? gelu_tanh_bend(v.in(1)) : gelu_bend(v.in(1));
  return v.grad() * v.in(0) * bend;
}

// Rules of the primitives, one per approximation.
template <Text approximate>
constexpr auto gelu_rule = wrt(0, saves::in(0), [](const Vjp& v) {
  return gelu_backward(v.grad(), v.in(0), approximate.chars);
});
template <Text approximate>
constexpr auto gelu_grad_rule = wrt(0, saves::in(1), [](const Vjp& v) {
  return gelu_backward(v.grad(), v.in(1), approximate.chars);
});
template <Text approximate>
constexpr auto gelu_bend_rule = wrt(1, saves::in(0) | saves::in(1),
                                    [](const Vjp& v) { return gelu_second(v, approximate.chars); });

const Registered gelu_p = elementwise<Types::floating_only, 1>("gelu", [](auto x) FG_INLINED {
                            return x * 0.5 * (1 + ir::erf(x * kRootHalf));
                          }).vjp("GeluBackward0", gelu_rule<"none">);
const Registered gelu_backward_p =
    elementwise<Types::floating_only, 2>("gelu_backward",
                                         [](auto grad, auto x) FG_INLINED {
                                           auto below = 0.5 * (1 + ir::erf(x * kRootHalf));
                                           auto density =
                                               ir::exp(x * x * -0.5) * (0.5 * kRootTwoOverPi);
                                           return grad * (below + x * density);
                                         })
        .linear_in({0})
        .vjp("GeluBackwardBackward0", gelu_grad_rule<"none">, gelu_bend_rule<"none">);
const Registered gelu_tanh_p =
    elementwise<Types::floating_only, 1>("gelu_tanh", [](auto x) FG_INLINED {
      auto inner = kRootTwoOverPi * (x + kCubic * (x * x * x));
      return 0.5 * x * (1 + ir::tanh(inner));
    }).vjp("GeluBackward0", gelu_rule<"tanh">);
const Registered gelu_tanh_backward_p =
    elementwise<Types::floating_only, 2>(
        "gelu_tanh_backward",
        [](auto grad, auto x) FG_INLINED {
          auto square = x * x;
          auto t = ir::tanh(kRootTwoOverPi * (x + kCubic * (square * x)));
          auto inner_slope = kRootTwoOverPi * (1 + 3 * kCubic * square);
          return grad * (0.5 * (1 + t) + 0.5 * x * ((1 - t * t) * inner_slope));
        })
        .linear_in({0})
        .vjp("GeluBackwardBackward0", gelu_grad_rule<"tanh">, gelu_bend_rule<"tanh">);

bool is_tanh(const char* who, const std::string& approximate) {
  if (approximate != "none" && approximate != "tanh") {
    fail("{}: approximate is '{}'; expected 'none' or 'tanh'", who, approximate);
  }
  return approximate == "tanh";
}
const auto gelu_entry =
    define(gelu, "Self * P(X <= self) for a normal X; approximate is 'none' or 'tanh'.",
           [](const Tensor& self, const std::string& approximate) {
             return is_tanh("gelu", approximate) ? gelu_tanh_p(self) : gelu_p(self);
           })
        .shown(Shown::in_nn)
        .vjp("GeluBackward0", wrt(0, saves::in(0),
                                  [](const Vjp& v, const std::string& approximate) {
                                    return gelu_backward(v.grad(), v.in(0), approximate);
                                  }))
        .out()
        .samples([] {
          Samples all = values();
          all.push_back({{sample({5}), std::string("tanh")}, "tanh"});
          return all;
        });
const auto gelu_backward_entry =
    define(gelu_backward, "The gradient of gelu.",
           [](const Tensor& grad, const Tensor& self, const std::string& approximate) {
             return is_tanh("gelu_backward", approximate) ? gelu_tanh_backward_p(grad, self)
                                                          : gelu_backward_p(grad, self);
           })
        .shown(Shown::nowhere)
        .vjp("GeluBackwardBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, const std::string& approximate) {
                   return gelu_backward(v.grad(), v.in(1), approximate);
                 }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v, const std::string& approximate) {
                   return gelu_second(v, approximate);
                 }))
        .samples([] {
          return Samples{{{sample({5}), sample({5})}},
                         {{sample({5}), sample({5}), std::string("tanh")}, "tanh"}};
        });

// ---- silu

const Registered silu_backward_p =
    elementwise<Types::floating_only, 2>("silu_backward",
                                         [](auto grad, auto x) FG_INLINED {
                                           auto s = ir::sigmoid(x);
                                           return grad * s * (1 + x * (1 - s));
                                         })
        .linear_in({0})
        .vjp("SiluBackwardBackward0",
             wrt(0, saves::in(1), [](const Vjp& v) { return silu_backward(v.grad(), v.in(1)); }),
             wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v) {
               Tensor x = v.in(1), s = sigmoid(x), rest = 1 - s;
               return v.grad() * v.in(0) * (s * rest * (2 + x * (rest - s)));
             }));
const auto silu_backward_entry = define_as<silu_backward_p>(silu_backward, "The gradient of silu.")
                                     .shown(Shown::nowhere)
                                     .samples(grads_and_values);
const Registered silu_p = elementwise<Types::floating_only, 1>("silu", [](auto x) FG_INLINED {
                            return x / (1 + ir::exp(-x));
                          }).vjp("SiluBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                   return silu_backward(v.grad(), v.in(0));
                                 }));
const auto silu_entry = define_as<silu_p>(silu, "Self * sigmoid(self).")
                            .shown(Shown::in_nn)
                            .inplace()
                            .out()
                            .samples(values);

// ---- mish

const Registered mish_backward_p =
    elementwise<Types::floating_only, 2>("mish_backward",
                                         [](auto grad, auto x) FG_INLINED {
                                           auto t = ir::tanh(ir::softplus(x));
                                           return grad * (t + x * ir::sigmoid(x) * (1 - t * t));
                                         })
        .linear_in({0})
        .vjp("MishBackwardBackward0",
             wrt(0, saves::in(1), [](const Vjp& v) { return mish_backward(v.grad(), v.in(1)); }),
             wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v) {
               Tensor x = v.in(1), s = sigmoid(x), t = tanh(softplus(x));
               Tensor bend = (1 - t * t) * s * (2 + x * (1 - s) - x * s * t * 2);
               return v.grad() * v.in(0) * bend;
             }));
const auto mish_backward_entry = define_as<mish_backward_p>(mish_backward, "The gradient of mish.")
                                     .shown(Shown::nowhere)
                                     .samples(grads_and_values);
const Registered mish_p = elementwise<Types::floating_only, 1>("mish", [](auto x) FG_INLINED {
                            return x * ir::tanh(ir::softplus(x));
                          }).vjp("MishBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                   return mish_backward(v.grad(), v.in(0));
                                 }));
const auto mish_entry = define_as<mish_p>(mish, "Self * tanh(softplus(self)).")
                            .shown(Shown::in_nn)
                            .inplace()
                            .out()
                            .samples(values);

// ---- softplus: linear from the threshold on

struct Softplus {
  Scalar beta, threshold;
  bool operator==(const Softplus&) const = default;
};
const Registered softplus_backward_p =
    elementwise<Types::floating_only, 2, Softplus>(
        "softplus_backward",
        [](auto grad, auto x, const Softplus& p) FG_INLINED {
          auto scaled = x * number(x, p.beta);
          return ir::select(scaled > number(x, p.threshold), grad, grad * ir::sigmoid(scaled));
        })
        .linear_in({0})
        .vjp("SoftplusBackwardBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, const Softplus& p) {
                   return softplus_backward(v.grad(), v.in(1), p.beta, p.threshold);
                 }),
             wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v, const Softplus& p) {
               Tensor scaled = v.in(1) * Tensor(p.beta), s = sigmoid(scaled);
               Tensor bend = s * (1 - s) * Tensor(p.beta);
               return v.grad() * v.in(0) * where(scaled > Tensor(p.threshold), 0, bend);
             }));
const auto softplus_backward_entry =
    define_as<softplus_backward_p>(softplus_backward, "The gradient of softplus.")
        .shown(Shown::nowhere)
        .samples([] { return Samples{{{sample({5}), sample({5}), Scalar(1.5), Scalar(1)}}}; });
const Registered softplus_p =
    elementwise<Types::floating_only, 1, Softplus>("softplus", [](auto x,
                                                                  const Softplus& p) FG_INLINED {
      auto beta = number(x, p.beta), scaled = x * beta;
      return ir::select(scaled > number(x, p.threshold), x, ir::softplus(scaled) / beta);
    }).vjp("SoftplusBackward0", wrt(0, saves::in(0), [](const Vjp& v, const Softplus& p) {
             return softplus_backward(v.grad(), v.in(0), p.beta, p.threshold);
           }));
const auto softplus_entry =
    define_as<softplus_p>(softplus, "log(1 + exp(beta * self)) / beta; self above the threshold.")
        .shown(Shown::in_nn)
        .out()
        .samples([] {
          Samples all = values();
          all.push_back({{sample({5}), Scalar(1.5), Scalar(1)}, "beta and threshold"});
          return all;
        });

// ---- log_sigmoid

const Registered log_sigmoid_backward_p =
    elementwise<Types::floating_only, 2>(
        "log_sigmoid_backward", [](auto grad, auto x) FG_INLINED { return grad * ir::sigmoid(-x); })
        .linear_in({0})
        .vjp("LogSigmoidBackwardBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v) { return log_sigmoid_backward(v.grad(), v.in(1)); }),
             wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v) {
               Tensor s = sigmoid(v.in(1));
               return v.grad() * v.in(0) * (s * (s - 1));
             }));
const auto log_sigmoid_backward_entry =
    define_as<log_sigmoid_backward_p>(log_sigmoid_backward, "The gradient of log_sigmoid.")
        .shown(Shown::nowhere)
        .samples(grads_and_values);
const Registered log_sigmoid_p =
    elementwise<Types::floating_only, 1>("log_sigmoid", [](auto x) FG_INLINED {
      return -ir::softplus(-x);
    }).vjp("LogSigmoidBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
             return log_sigmoid_backward(v.grad(), v.in(0));
           }));
const auto log_sigmoid_entry =
    define_as<log_sigmoid_p>(log_sigmoid, "log(sigmoid(self)), without overflow.")
        .shown(Shown::in_nn)
        .out()
        .samples(values);

}  // namespace
}  // namespace fg

// Activations made of straight pieces, and elu; the smooth ones are in activation_smooth.cpp.
#include "ops/elementwise/activation.h"

#include "base/fail.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/entry.h"

namespace fg {

using namespace ops::entry;

namespace {

Samples values() {
  return {{{sample({2, 5})}},
          {{tensor({0.0, -0.0, __builtin_nan("")}, kFloat64)}, "extremes", false}};
}
Tensor no_gradient(const Vjp& v) { return zeros_like(v.grad()); }

// ---- relu and threshold: NaN passes, also its gradient

struct Threshold {
  Scalar threshold;
  bool operator==(const Threshold&) const = default;
};
const Registered threshold_backward_p =
    elementwise<Types::numeric, 2, Threshold>(
        "threshold_backward",
        [](auto grad, auto x, const Threshold& p)
            FG_INLINED { return ir::select(x <= number(x, p.threshold), 0, grad); })
        .linear_in({0})
        .vjp("ThresholdBackwardBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, const Threshold& p) {
                   return threshold_backward(v.grad(), v.in(1), p.threshold);
                 }),
             wrt(1, saves::nothing, [](const Vjp& v, const Threshold&) { return no_gradient(v); }));
const auto threshold_backward_entry =
    define_as<threshold_backward_p>(threshold_backward, "The gradient where self > threshold.")
        .shown(Shown::nowhere)
        .samples([] { return Samples{{{sample({5}), sample({5}), Scalar(0)}}}; });

const Registered relu_p = elementwise<Types::numeric, 1>("relu", [](auto x) FG_INLINED {
                            return ir::select(x <= 0, 0, x);
                          }).vjp("ReluBackward0", wrt(0, saves::out(), [](const Vjp& v) {
                                   return threshold_backward(v.grad(), v.out(), 0);
                                 }));
const auto relu_entry = define_as<relu_p>(relu, "Self where it is positive, else 0.")
                            .inplace_as_function()
                            .inplace()
                            .samples(values);

struct Step {
  Scalar threshold, value;
  bool operator==(const Step&) const = default;
};
const Registered threshold_p =
    elementwise<Types::numeric, 1, Step>("threshold", [](auto x, const Step& p) FG_INLINED {
      return ir::select(x <= number(x, p.threshold), number(x, p.value), x);
    }).vjp("ThresholdBackward0", wrt(0, saves::in(0), [](const Vjp& v, const Step& p) {
             return threshold_backward(v.grad(), v.in(0), p.threshold);
           }));
struct ThresholdBody : StandsFor<threshold_p> {
  Tensor operator()(const Tensor& self, const Scalar& threshold, const Scalar& value) const {
    for (const Scalar& one : {threshold, value}) {
      if (one.is_known()) ops::check_fits(one, self.dtype(), "threshold");
    }
    return StandsFor<threshold_p>::operator()(self, threshold, value);
  }
};
const auto threshold_entry =
    define(threshold, "Self where it is above the threshold, else value.", ThresholdBody{})
        .shown(Shown::as_function)
        .inplace_as_function()
        .stands_for(threshold_p)
        .inplace()
        .out()
        .samples([] { return Samples{{{sample({5}), Scalar(0.1), Scalar(7)}}}; });

// ---- hardtanh: unlike clamp, the limits themselves have no gradient

struct Range {
  Scalar min, max;
  bool operator==(const Range&) const = default;
};
const Registered hardtanh_p =
    elementwise<Types::numeric, 1, Range>("hardtanh", [](auto x, const Range& p) FG_INLINED {
      auto low = number(x, p.min), high = number(x, p.max);
      return ir::select(x < low, low, ir::select(x > high, high, x));
    }).vjp("HardtanhBackward0", wrt(0, saves::in(0), [](const Vjp& v, const Range& p) {
             return hardtanh_backward(v.grad(), v.in(0), p.min, p.max);
           }));
const Registered hardtanh_backward_p =
    elementwise<Types::floating_only, 2, Range>("hardtanh_backward",
                                                [](auto grad, auto x, const Range& p) FG_INLINED {
                                                  auto outside = (x <= number(x, p.min)) |
                                                                 (x >= number(x, p.max));
                                                  return ir::select(outside, 0, grad);
                                                })
        .linear_in({0})
        .vjp("HardtanhBackwardBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, const Range& p) {
                   return hardtanh_backward(v.grad(), v.in(1), p.min, p.max);
                 }),
             wrt(1, saves::nothing, [](const Vjp& v, const Range&) { return no_gradient(v); }));
const auto hardtanh_backward_entry =
    define_as<hardtanh_backward_p>(hardtanh_backward,
                                   "The gradient where min_val < self < max_val.")
        .shown(Shown::nowhere)
        .samples([] { return Samples{{{sample({5}), sample({5}), Scalar(-1), Scalar(1)}}}; });
const auto hardtanh_entry =
    define(hardtanh, "Self limited to [min_val, max_val].",
           [](const Tensor& self, const Scalar& min, const Scalar& max) {
             if (min.to_double() > max.to_double()) {
               fail(ErrorKind::value, "hardtanh: min_val {} is greater than max_val {}", min.text(),
                    max.text());
             }
             if (self.dtype() == kUInt8 && (min.to_double() < 0 || max.to_double() < 0)) {
               fail("hardtanh: uint8 has no negative limits, got {} and {}; convert the input",
                    min.text(), max.text());
             }
             for (const Scalar& limit : {min, max})
               ops::check_fits(limit, self.dtype(), "hardtanh");
             return hardtanh_p.with({min, max}, self);
           })
        .shown(Shown::in_nn)
        .vjp("HardtanhBackward0", wrt(0, saves::in(0),
                                      [](const Vjp& v, const Scalar& min, const Scalar& max) {
                                        return hardtanh_backward(v.grad(), v.in(0), min, max);
                                      }))
        .inplace()
        .out()
        .samples(values);
const auto relu6_entry = define(relu6, "Self limited to [0, 6].",
                                [](const Tensor& self) { return hardtanh(self, 0, 6); })
                             .shown(Shown::in_nn)
                             .samples(values);

// ---- leaky_relu

struct Slope {
  Scalar negative;
  bool operator==(const Slope&) const = default;
};
const Registered leaky_relu_backward_p =
    elementwise<Types::floating_only, 2, Slope>(
        "leaky_relu_backward",
        [](auto grad, auto x, const Slope& p)
            FG_INLINED { return ir::select(x > 0, grad, grad * number(x, p.negative)); })
        .linear_in({0})
        .vjp("LeakyReluBackwardBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, const Slope& p) {
                   return leaky_relu_backward(v.grad(), v.in(1), p.negative);
                 }),
             wrt(1, saves::nothing, [](const Vjp& v, const Slope&) { return no_gradient(v); }));
const auto leaky_relu_backward_entry =
    define_as<leaky_relu_backward_p>(leaky_relu_backward, "The gradient of leaky_relu.")
        .shown(Shown::nowhere)
        .samples([] { return Samples{{{sample({5}), sample({5}), Scalar(0.1)}}}; });
const Registered leaky_relu_p =
    elementwise<Types::floating_only, 1, Slope>("leaky_relu", [](auto x,
                                                                 const Slope& p) FG_INLINED {
      return ir::select(x > 0, x, x * number(x, p.negative));
    }).vjp("LeakyReluBackward0", wrt(0, saves::in(0), [](const Vjp& v, const Slope& p) {
             return leaky_relu_backward(v.grad(), v.in(0), p.negative);
           }));
const auto leaky_relu_entry =
    define_as<leaky_relu_p>(leaky_relu, "Self where it is positive, else negative_slope * self.")
        .shown(Shown::in_nn)
        .inplace()
        .out()
        .samples(values);

// ---- elu and selu

struct Elu {
  Scalar alpha, scale, input_scale;
  bool operator==(const Elu&) const = default;
};
const Registered elu_backward_p =
    elementwise<Types::floating_only, 2, Elu>(
        "elu_backward",
        [](auto grad, auto x, const Elu& p) FG_INLINED {
          auto inner = number(x, p.input_scale), outer = number(x, p.scale);
          auto below = grad * (inner * (number(x, p.alpha) * outer)) * ir::exp(x * inner);
          return ir::select(x <= 0, below, grad * outer);
        })
        .linear_in({0})
        .vjp("EluBackwardBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, const Elu& p) {
                   return elu_backward(v.grad(), v.in(1), p.alpha, p.scale, p.input_scale);
                 }),
             wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v, const Elu& p) {
               Tensor x = v.in(1), slope = v.grad() * v.in(0) * Tensor(p.input_scale);
               Tensor bend = elu_backward(slope, x, p.alpha, p.scale, p.input_scale);
               return where(x < 0, bend, 0);
             }));
const auto elu_backward_entry =
    define_as<elu_backward_p>(elu_backward, "The gradient of elu.")
        .shown(Shown::nowhere)
        .samples([] {
          return Samples{{{sample({5}), sample({5}), Scalar(1.5), Scalar(2), Scalar(0.5)}}};
        });
const Registered elu_p =
    elementwise<Types::floating_only, 1, Elu>("elu", [](auto x, const Elu& p) FG_INLINED {
      auto outer = number(x, p.scale);
      auto below = ir::expm1(x * number(x, p.input_scale)) * (number(x, p.alpha) * outer);
      return ir::select(x <= 0, below, x * outer);
    }).vjp("EluBackward0", wrt(0, saves::in(0), [](const Vjp& v, const Elu& p) {
             return elu_backward(v.grad(), v.in(0), p.alpha, p.scale, p.input_scale);
           }));
const auto elu_entry =
    define_as<elu_p>(
        elu, "Scale * self where positive, else scale * alpha * (exp(input_scale * self) - 1).")
        .shown(Shown::in_nn)
        .inplace()
        .out()
        .samples([] {
          Samples all = values();
          all.push_back({{sample({5}), Scalar(1.5), Scalar(2), Scalar(0.5)}, "scaled"});
          return all;
        });
constexpr double kSeluAlpha = 1.6732632423543772, kSeluScale = 1.0507009873554805;
const auto selu_entry =
    define(selu, "Elu with the constants of self-normalising networks.",
           [](const Tensor& self) { return elu(self, kSeluAlpha, kSeluScale); })
        .shown(Shown::as_function)
        .vjp("EluBackward0", wrt(0, saves::in(0),
                                 [](const Vjp& v) {
                                   return elu_backward(v.grad(), v.in(0), kSeluAlpha, kSeluScale,
                                                       1);
                                 }))
        .inplace_as_function()
        .inplace()
        .samples(values);

}  // namespace

Tensor Tensor::relu() const { return fg::relu(*this); }
Tensor& Tensor::relu_() const { return fg::relu_(*this); }

}  // namespace fg

// Activations that shrink, gate or lean: hardshrink, softshrink, hardsigmoid, hardswish, celu,
// softsign, tanhshrink, prelu, glu.
#include "base/fail.h"
#include "ops/create/create.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/rearrange/join.h"
#include "ops/view/views.h"

namespace fg {

using namespace ops::entry;

namespace {

Samples values() {
  double inf = __builtin_inf();
  return {{{sample({2, 5}, -4, 4)}},
          {{tensor({0.0, -0.0, 3.0, -3.0, inf, -inf, __builtin_nan("")}, kFloat64)},
           "extremes",
           false}};
}
Samples grads_and_values() { return {{{sample({5}), sample({5}, -4, 4)}}}; }
Tensor no_gradient(const Vjp& v) { return zeros_like(v.grad()); }

// ---- hardshrink and softshrink: nothing within lambd of zero; one gradient for both

struct Shrink {
  Scalar lambd;
  bool operator==(const Shrink&) const = default;
};
const Registered shrink_backward_p =
    elementwise<Types::floating_only, 2, Shrink>("hardshrink_backward",
                                                 [](auto grad, auto x, const Shrink& p) FG_INLINED {
                                                   auto width = number(x, p.lambd);
                                                   return ir::select((x >= -width) & (x <= width),
                                                                     0, grad);
                                                 })
        .linear_in({0})
        .vjp("HardshrinkBackwardBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, const Shrink& p) {
                   return hardshrink_backward(v.grad(), v.in(1), p.lambd);
                 }),
             wrt(1, saves::nothing, [](const Vjp& v, const Shrink&) { return no_gradient(v); }));
const auto hardshrink_backward_entry =
    define_as<shrink_backward_p>(hardshrink_backward,
                                 "The gradient where self is farther than lambd from zero.")
        .shown(Shown::nowhere)
        .samples([] { return Samples{{{sample({5}), sample({5}), Scalar(0.7)}}}; });

const Registered hardshrink_p =
    elementwise<Types::floating_only, 1, Shrink>("hardshrink", [](auto x,
                                                                  const Shrink& p) FG_INLINED {
      auto width = number(x, p.lambd);
      return ir::select((x >= -width) & (x <= width), 0, x);
    }).vjp("HardshrinkBackward0", wrt(0, saves::in(0), [](const Vjp& v, const Shrink& p) {
             return hardshrink_backward(v.grad(), v.in(0), p.lambd);
           }));
const auto hardshrink_entry =
    define_as<hardshrink_p>(hardshrink, "Self where it is farther than lambd from zero, else 0.")
        .out()
        .samples(values);

const Registered softshrink_p =
    elementwise<Types::floating_only, 1, Shrink>("softshrink", [](auto x,
                                                                  const Shrink& p) FG_INLINED {
      auto width = number(x, p.lambd);
      return ir::select(x > width, x - width, ir::select(x < -width, x + width, x * 0));
    }).vjp("SoftshrinkBackward0", wrt(0, saves::in(0), [](const Vjp& v, const Shrink& p) {
             return hardshrink_backward(v.grad(), v.in(0), p.lambd);
           }));
struct SoftshrinkBody : StandsFor<softshrink_p> {
  Tensor operator()(const Tensor& self, const Scalar& lambd) const {
    if (lambd.is_known() && is_floating(self.dtype()) && !(lambd.to_double() >= 0)) {
      fail("softshrink: lambd must not be negative, but is {}", lambd.text());
    }
    return StandsFor<softshrink_p>::operator()(self, lambd);
  }
};
const auto softshrink_entry =
    define(softshrink, "Self moved by lambd towards zero, and 0 within it.", SoftshrinkBody{})
        .shown(Shown::in_nn)
        .stands_for(softshrink_p)
        .out()
        .samples(values);

// ---- hardsigmoid and hardswish: straight between -3 and 3

const Registered hardsigmoid_backward_p =
    elementwise<Types::floating_only, 2>(
        "hardsigmoid_backward",
        [](auto grad, auto x)
            FG_INLINED { return ir::select((x > -3) & (x < 3), grad * (1.0 / 6), 0); })
        .linear_in({0})
        .vjp("HardsigmoidBackwardBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v) { return hardsigmoid_backward(v.grad(), v.in(1)); }),
             wrt(1, saves::nothing, [](const Vjp& v) { return no_gradient(v); }));
const auto hardsigmoid_backward_entry =
    define_as<hardsigmoid_backward_p>(hardsigmoid_backward, "The gradient of hardsigmoid.")
        .shown(Shown::nowhere)
        .samples(grads_and_values);
const Registered hardsigmoid_p =
    elementwise<Types::floating_only, 1>("hardsigmoid", [](auto x) FG_INLINED {
      return ir::select(x <= -3, 0, ir::select(x >= 3, 1, (x + 3) / 6));
    }).vjp("HardsigmoidBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
             return hardsigmoid_backward(v.grad(), v.in(0));
           }));
const auto hardsigmoid_entry = define_as<hardsigmoid_p>(hardsigmoid, "(self + 3) / 6, in [0, 1].")
                                   .shown(Shown::in_nn)
                                   .inplace()
                                   .out()
                                   .samples(values);

const Registered hardswish_backward_p =
    elementwise<Types::floating_only, 2>("hardswish_backward",
                                         [](auto grad, auto x) FG_INLINED {
                                           auto inside =
                                               ir::select(x < 3, grad * (x / 3 + 0.5), grad);
                                           return ir::select(x <= -3, 0, inside);
                                         })
        .linear_in({0})
        .vjp("HardswishBackwardBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v) { return hardswish_backward(v.grad(), v.in(1)); }),
             wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v) {
               Tensor inside = logical_and(v.in(1) > -3, v.in(1) < 3);
               return where(inside, v.grad() * v.in(0) / 3, 0);
             }));
const auto hardswish_backward_entry =
    define_as<hardswish_backward_p>(hardswish_backward, "The gradient of hardswish.")
        .shown(Shown::nowhere)
        .samples(grads_and_values);
const Registered hardswish_p =
    elementwise<Types::floating_only, 1>("hardswish", [](auto x) FG_INLINED {
      return x * ir::select(x <= -3, 0, ir::select(x >= 3, 6, x + 3)) / 6;
    }).vjp("HardswishBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
             return hardswish_backward(v.grad(), v.in(0));
           }));
const auto hardswish_entry = define_as<hardswish_p>(hardswish, "Self * hardsigmoid(self).")
                                 .shown(Shown::in_nn)
                                 .inplace()
                                 .out()
                                 .samples(values);

// ---- celu, softsign, tanhshrink

double inverse_alpha(const Scalar& alpha) {
  if (alpha.to_double() == 0) fail("celu: alpha is 0; expected a number to divide by");
  return 1 / alpha.to_double();
}
const auto celu_entry =
    define(celu, "Self where positive, else alpha * (exp(self / alpha) - 1).",
           [](const Tensor& self, const Scalar& alpha) {
             return elu(self, alpha, 1, inverse_alpha(alpha));
           })
        .vjp("CeluBackward0", wrt(0, saves::in(0),
                                  [](const Vjp& v, const Scalar& alpha) {
                                    return elu_backward(v.grad(), v.in(0), alpha, 1,
                                                        inverse_alpha(alpha));
                                  }))
        .shown(Shown::as_function)
        .inplace_as_function()
        .inplace()
        .samples([] {
          Samples all = values();
          all.push_back({{sample({5}), Scalar(1.5)}, "alpha"});
          return all;
        });
const auto softsign_entry = define(softsign, "Self / (1 + |self|).",
                                   [](const Tensor& self) { return self / (abs(self) + 1); })
                                .shown(Shown::in_nn)
                                .samples(values);
const auto tanhshrink_entry =
    define(tanhshrink, "Self - tanh(self).", [](const Tensor& self) { return self - tanh(self); })
        .shown(Shown::in_nn)
        .samples(values);

// ---- prelu

const Registered prelu_kernel_p =
    elementwise<Types::floating_only, 2>(
        "prelu", [](auto x, auto weight) FG_INLINED { return ir::select(x > 0, x, weight * x); })
        .vjp("PreluKernelBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return where(v.in(0) > 0, v.grad(), v.in(1) * v.grad()); }),
             wrt(1, saves::in(0),
                 [](const Vjp& v) { return where(v.in(0) > 0, 0, v.in(0) * v.grad()); }));

void check_prelu(const Tensor& self, const Tensor& weight) {
  if (weight.dim() > 1) {
    fail("prelu: the weight has sizes {}; expected a number or one per channel",
         text(weight.sizes()));
  }
  if (self.dim() == 0 && !(weight.dim() == 0 || weight.sizes()[0] == 1)) {
    fail("prelu: an input without dimensions takes one weight, got {}", text(weight.sizes()));
  }
  if (self.dtype() != weight.dtype()) {
    fail("prelu: the input is {} and the weight {}; convert one of them", name(self.dtype()),
         name(weight.dtype()));
  }
  if (weight.dim() == 0 || weight.sizes()[0] == 1) return;
  Dim channels = self.dim() > 1 ? self.sizes()[1] : Dim(1);
  if (!(weight.sizes()[0] == channels)) {
    fail("prelu: the weight has {} numbers and the input {} channels; expected one for each",
         weight.sizes()[0].text(), channels.text());
  }
}

const auto prelu_entry =
    define(prelu, "Self where positive, else weight * self; the weight is that of the channel.",
           [](const Tensor& self, const Tensor& weight) {
             check_prelu(self, weight);
             if (weight.dim() == 0) return prelu_kernel_p(self, weight);
             Dims sizes(self.sizes().size(), 1);
             if (self.dim() > 1) sizes[1] = weight.sizes()[0];
             return prelu_kernel_p(self, reshape(weight, sizes));
           })
        .samples([] {
          return Samples{{{sample({2, 3, 2}), sample({3})}},
                         {{sample({2, 3}), sample({1})}, "one weight"},
                         {{sample({}), sample({})}, "numbers"}};
        });

// ---- glu

// The halves of a tensor along a dimension.
std::pair<Tensor, Tensor> halves(const Tensor& self, int64_t dim) {
  Dim half = self.dim_size(dim) / 2;
  return {narrow(self, dim, 0, half), narrow(self, dim, half, half)};
}
const auto glu_entry =
    define(glu, "The first half along a dimension times the sigmoid of the second.",
           [](const Tensor& self, int64_t dim) {
             if (self.dim() == 0) fail("glu: a tensor without dimensions has no halves");
             if (!is_floating(self.dtype())) {
               fail(ErrorKind::not_implemented,
                    "glu: not implemented for {}; convert to a floating dtype", name(self.dtype()));
             }
             if (!(self.dim_size(dim) % 2 == 0)) {
               fail("glu: dimension {} has the odd size {}; expected two halves", dim,
                    self.dim_size(dim).text());
             }
             auto [values, gates] = halves(self, dim);
             return values * sigmoid(gates);
           })
        .shown(Shown::in_nn)
        .vjp("GluBackward0", wrt(0, saves::in(0),
                                 [](const Vjp& v, int64_t dim) {
                                   auto [values, gates] = halves(v.in(0), dim);
                                   Tensor open = sigmoid(gates), to_values = v.grad() * open;
                                   return cat({to_values, to_values * values * (1 - open)}, dim);
                                 }))
        .out()
        .samples([] {
          return Samples{{{sample({2, 4})}}, {{sample({4, 3}), Scalar(0)}, "first dimension"}};
        });

}  // namespace
}  // namespace fg

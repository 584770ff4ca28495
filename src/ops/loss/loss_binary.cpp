// Losses of probabilities: binary cross entropy and the divergence of distributions.
#include "base/fail.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/kernels/strided.h"
#include "ops/loss/loss.h"
#include "ops/loss/loss_reduction.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ops::entry;
using ops::check_reduction;
using ops::reduced;
using ops::spread;

namespace {

[[noreturn]] void refuse_sizes(const char* who, const Dims& target, const Dims& input,
                               const char* expected) {
  fail("{}: the target has sizes {} but the input has sizes {}; {}", who, text(target), text(input),
       expected);
}
Dims without_ones(const Dims& sizes) {
  Dims kept;
  for (const Dim& size : sizes) {
    if (!(size == 1)) kept.push_back(size);
  }
  return kept;
}
// The target with the sizes of the input. As in PyTorch's C++, sizes of one do not count, and the
// rest broadcasts: targets [200] are those of an input [200, 1]. (Python compares the sizes first.)
Tensor fitted(const Tensor& target, const Dims& sizes) {
  if (target.sizes() == sizes) return target;
  Dims inner = without_ones(sizes), given = without_ones(target.sizes());
  if (!can_broadcast(given, inner)) {
    refuse_sizes("binary_cross_entropy", target.sizes(), sizes,
                 "without sizes of one they must broadcast to those of the input");
  }
  return reshape(expand(reshape(target, given), inner), sizes);
}
// The way back of a gradient: what was repeated is summed.
Tensor unfitted(const Tensor& grad, const Dims& target) {
  if (grad.sizes() == target) return grad;
  Dims inner = without_ones(grad.sizes()), given = without_ones(target), repeated;
  Tensor flat = reshape(grad, inner);
  for (size_t i = 0; i + given.size() < inner.size(); i++) {
    repeated.push_back(static_cast<int64_t>(i));
  }
  return reshape(repeated.empty() ? flat : sum(flat, repeated), target);
}
Tensor weighted(const Tensor& losses, const Tensor& weight) {
  return weight.defined() ? losses * weight : losses;
}
Samples probabilities() {
  Samples all;
  for (const char* reduction : {"none", "mean", "sum"}) {
    all.push_back(
        {{sample({2, 3}, 0.1, 0.9), sample({2, 3}, 0.2, 0.8), ir::Value(), std::string(reduction)},
         reduction});
  }
  all.push_back(
      {{sample({2, 3}, 0.1, 0.9), sample({2, 3}, 0.2, 0.8), sample_mask({3}).to(kFloat64)},
       "weight",
       false});
  return all;
}

// ---- probabilities: -(y log(x) + (1 - y) log(1 - x)), logarithms at least -100: never infinite

// The slope in the direction of the target.
Tensor entropy_target_slope(const Tensor& x) { return log1p(-x) - log(x); }
const Registered entropy_p =
    elementwise<Types::floating_only, 2>("binary_cross_entropy",
                                         [](auto x, auto y) FG_INLINED {
                                           auto miss = ir::at_least(ir::log1p(-x), -100);
                                           auto hit = ir::at_least(ir::log(x), -100);
                                           return (y - 1) * miss - y * hit;
                                         })
        .vjp("BinaryCrossEntropyBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) {
                   return binary_cross_entropy_backward(v.grad(), v.in(0), v.in(1));
                 }),
             wrt(1, saves::in(0),
                 [](const Vjp& v) { return v.grad() * entropy_target_slope(v.in(0)); }));
const Registered entropy_backward_p =
    elementwise<Types::floating_only, 3>("binary_cross_entropy_backward",
                                         [](auto grad, auto x, auto y) FG_INLINED {
                                           return grad * (x - y) / ir::at_least((1 - x) * x, 1e-12);
                                         })
        .linear_in({0})
        .vjp("BinaryCrossEntropyBackwardBackward0",
             wrt(0, saves::in(1) | saves::in(2),
                 [](const Vjp& v) {
                   return binary_cross_entropy_backward(v.grad(), v.in(1), v.in(2));
                 }),
             wrt(1, saves::in(0) | saves::in(1) | saves::in(2),
                 [](const Vjp& v) {
                   Tensor x = v.in(1), spread = clamp_min(x * (1 - x), 1e-12);
                   Tensor bend = (v.in(2) * (1 - x * 2) + x * x) / (spread * spread);
                   return v.grad() * v.in(0) * bend;
                 }),
             wrt(2, saves::in(0) | saves::in(1), [](const Vjp& v) {
               return -v.grad() * v.in(0) / clamp_min(v.in(1) * (1 - v.in(1)), 1e-12);
             }));
const auto entropy_backward_entry =
    define_as<entropy_backward_p>(binary_cross_entropy_backward,
                                  "The gradient of the unreduced binary_cross_entropy.")
        .shown(Shown::nowhere)
        .samples(
            [] { return Samples{{{sample({5}), sample({5}, 0.1, 0.9), sample({5}, 0.2, 0.8)}}}; });

void check_probabilities(const Tensor& self) {
  Tensor inside = logical_and(self >= 0, self <= 1);
  if (sum(logical_not(inside)).item<int64_t>() == 0) return;
  fail(
      "binary_cross_entropy: all elements of input should be between 0 and 1; apply sigmoid, or "
      "use binary_cross_entropy_with_logits");
}
const Registered checked_probabilities_p =
    ops::checked<ir::NoParams, [](const Tensor& self, const ir::NoParams&) {
      check_probabilities(self);
    }>("checked_probabilities");
Tensor probabilities(const Tensor& self) {
  if (!self.is_known()) return checked_probabilities_p(self);
  check_probabilities(self);
  return self;
}
const auto entropy_entry =
    define(binary_cross_entropy, "Cross entropy of probabilities and targets, scaled by weight.",
           [](const Tensor& self, const Tensor& target, const Tensor& weight,
              const std::string& reduction) {
             check_reduction("binary_cross_entropy", reduction);
             Tensor fitting = fitted(target, self.sizes()), checked = probabilities(self);
             return reduced(weighted(entropy_p(checked, fitting), weight), reduction);
           })
        .shown(Shown::as_function)
        .vjp("BinaryCrossEntropyBackward0",
             wrt(0, saves::in(0) | saves::in(1) | saves::in(2),
                 [](const Vjp& v, const std::string& reduction) {
                   Tensor x = v.in(0), grad = spread(v.grad(), reduction, x.sizes());
                   Tensor target = fitted(v.in(1), x.sizes());
                   return weighted(binary_cross_entropy_backward(grad, x, target), v.in(2));
                 }),
             wrt(1, saves::in(0) | saves::shape(1) | saves::in(2),
                 [](const Vjp& v, const std::string& reduction) {
                   Tensor x = v.in(0), grad = spread(v.grad(), reduction, x.sizes());
                   return unfitted(weighted(grad * entropy_target_slope(x), v.in(2)), v.sizes(1));
                 }),
             wrt(2, saves::nothing,
                 [](const Vjp&, const std::string&) {
                   return ops::not_differentiable("binary_cross_entropy", "weight");
                 }))
        .out()
        .samples(probabilities);

// ---- logits: the same of sigmoid(x), which is (1 - y) x + log(1 + exp(-x))

Tensor logits_slope(const Tensor& x, const Tensor& y, const Tensor& positive) {
  if (!positive.defined()) return sigmoid(x) - y;
  Tensor hits = positive * y;
  return (hits + 1 - y) * sigmoid(x) - hits;
}
Tensor logits_target_slope(const Tensor& x, const Tensor& positive) {
  return positive.defined() ? -x + (1 - positive) * log_sigmoid(x) : -x;
}
const Registered logits_p =
    elementwise<Types::floating_only, 2>("binary_cross_entropy_with_logits",
                                         [](auto x, auto y)
                                             FG_INLINED { return (1 - y) * x + ir::softplus(-x); })
        .vjp("BinaryCrossEntropyWithLogitsBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return v.grad() * logits_slope(v.in(0), v.in(1), {}); }),
             wrt(1, saves::in(0),
                 [](const Vjp& v) { return v.grad() * logits_target_slope(v.in(0), {}); }));
const Registered logits_weighted_p =
    elementwise<Types::floating_only, 3>(
        "binary_cross_entropy_with_logits_weighted",
        [](auto x, auto y, auto positive)
            FG_INLINED { return (1 - y) * x + ((positive - 1) * y + 1) * ir::softplus(-x); })
        .vjp("BinaryCrossEntropyWithLogitsBackward0",
             wrt(0, saves::in(0) | saves::in(1) | saves::in(2),
                 [](const Vjp& v) { return v.grad() * logits_slope(v.in(0), v.in(1), v.in(2)); }),
             wrt(1, saves::in(0) | saves::in(2),
                 [](const Vjp& v) { return v.grad() * logits_target_slope(v.in(0), v.in(2)); }),
             wrt(2, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return -v.grad() * v.in(1) * log_sigmoid(v.in(0)); }));
const auto logits_entry =
    define(binary_cross_entropy_with_logits,
           "Cross entropy of sigmoid(self) and targets; pos_weight scales the positive ones.",
           [](const Tensor& self, const Tensor& target, const Tensor& weight,
              const std::string& reduction, const Tensor& positive) {
             check_reduction("binary_cross_entropy_with_logits", reduction);
             if (!can_broadcast(self.sizes(), target.sizes())) {
               refuse_sizes("binary_cross_entropy_with_logits", target.sizes(), self.sizes(),
                            "the input must broadcast to those of the target");
             }
             Tensor losses = positive.defined() ? logits_weighted_p(self, target, positive)
                                                : logits_p(self, target);
             return reduced(weighted(losses, weight), reduction);
           })
        .shown(Shown::as_function)
        .vjp("BinaryCrossEntropyWithLogitsBackward0",
             wrt(0, saves::in(0) | saves::in(1) | saves::shape(1) | saves::in(2) | saves::in(3),
                 [](const Vjp& v, const std::string& reduction) {
                   Tensor x = v.in(0), grad = spread(v.grad(), reduction, v.sizes(1));
                   return weighted(grad * logits_slope(x, v.in(1), v.in(3)), v.in(2));
                 }),
             wrt(1, saves::in(0) | saves::shape(1) | saves::in(2) | saves::in(3),
                 [](const Vjp& v, const std::string& reduction) {
                   Tensor x = v.in(0), grad = spread(v.grad(), reduction, v.sizes(1));
                   return weighted(grad * logits_target_slope(x, v.in(3)), v.in(2));
                 }),
             wrt_all({2, 3}, saves::nothing,
                     [](const Vjp&, const std::string&) {
                       return Tensors{ops::not_differentiable("binary_cross_entropy_with_logits",
                                                              "weight or pos_weight")};
                     }))
        .samples([] {
          Samples all = probabilities();
          all.push_back({{sample({2, 3}), sample({2, 3}, 0, 1), ir::Value(), std::string("mean"),
                          (sample_mask({3}).to(kFloat64) + 1)},
                         "pos_weight",
                         false});
          return all;
        });

// ---- distributions: target * (log(target) - self)

const auto kl_div_entry =
    define(kl_div,
           "Target * (log(target) - self): self is log-probabilities, target as log_target says.",
           [](const Tensor& self, const Tensor& target, const std::string& reduction,
              bool log_target) {
             if (reduction != "batchmean") check_reduction("kl_div", reduction);
             if (!self.is_floating_point() || !target.is_floating_point()) {
               fail("kl_div: integral inputs are not supported: got {} and {}", name(self.dtype()),
                    name(target.dtype()));
             }
             Tensor losses =
                 log_target ? exp(target) * (target - self) : xlogy(target, target) - target * self;
             if (reduction != "batchmean") return reduced(losses, reduction);
             Tensor total = sum(losses);
             return self.dim() == 0 ? total : total / ops::number_of(self.dim_size(0));
           })
        .shown(Shown::as_function)
        .samples([] {
          Samples all;
          for (const char* reduction : {"none", "mean", "sum", "batchmean"}) {
            all.push_back(
                {{sample({2, 3}), sample({2, 3}, 0.2, 0.8), std::string(reduction)}, reduction});
          }
          all.push_back(
              {{sample({2, 3}), sample({2, 3}), std::string("mean"), Scalar(true)}, "log_target"});
          return all;
        });

}  // namespace
}  // namespace fg

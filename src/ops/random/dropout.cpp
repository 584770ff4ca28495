#include "ops/random/dropout.h"

#include <cmath>

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/index/index.h"
#include "ops/loss/loss_reduction.h"
#include "ops/norm/softmax.h"
#include "ops/random/random.h"
#include "ops/reduce/reduce_order.h"

namespace fg {

using namespace ops::entry;

namespace {

Tensor dropped(const char* who, const Tensor& input, double p, bool train, const Dims& sizes) {
  if (!(p >= 0 && p <= 1)) {
    fail("{}: the probability has to be between 0 and 1, but got {}", who, p);
  }
  if (p == 0 || !train) return input;
  if (p == 1) return input * zeros(sizes, input.dtype());
  // Kept elements are 1 / (1 - p) in the mask itself: one product in the graph, as in PyTorch.
  Tensor mask = bernoulli(empty(sizes, input.dtype()), 1 - p) / (1 - p);
  return input * mask;
}
Samples inputs() {
  return {{{sample({2, 3, 4}), Scalar(0.5)}},
          {{sample({2, 3}), Scalar(0.5), Scalar(false)}, "not training"},
          {{sample({2, 3}), Scalar(1.0)}, "everything"}};
}

// With q = 1 - p: elements x with probability q, else a = -1.758; then (x - mean) / deviation of
// what a standard normal x becomes: mean p a, variance q (1 + p a^2).
Tensor alpha_dropped(const char* who, const Tensor& input, double p, bool train,
                     const Dims& sizes) {
  if (!(p >= 0 && p <= 1)) {
    fail("{}: the probability has to be between 0 and 1, but got {}", who, p);
  }
  if (p == 0 || !train) return input;
  if (p == 1) return input * zeros(sizes, input.dtype());
  constexpr double kLimit = 1.7580993408473766;
  double scale = 1 / std::sqrt((1 - p) * (1 + p * kLimit * kLimit));
  Tensor kept = bernoulli(empty(sizes, input.dtype()), 1 - p);
  Tensor shift = (kept - 1) * (kLimit * scale) + kLimit * scale * p;
  return input * (kept * scale) + shift;
}
Dims channel_sizes(const char* who, const Tensor& input) {
  if (input.dim() < 2) {
    fail("{}: the input has sizes {}; expected at least 2 dimensions", who, text(input.sizes()));
  }
  Dims sizes(input.sizes().size(), 1);
  sizes[0] = input.sizes()[0];
  sizes[1] = input.sizes()[1];
  return sizes;
}

const auto dropout_entry =
    define(dropout, "Zero with probability p, else the input over 1 - p; the input if not train.",
           [](const Tensor& input, double p, bool train) {
             return dropped("dropout", input, p, train, input.sizes());
           })
        .random()
        .samples(inputs);
const auto feature_dropout_entry =
    define(feature_dropout, "Dropout of whole channels: the first two dimensions decide.",
           [](const Tensor& input, double p, bool train) {
             return dropped("feature_dropout", input, p, train,
                            channel_sizes("feature_dropout", input));
           })
        .random()
        .samples(inputs);

const auto alpha_dropout_entry =
    define(alpha_dropout, "Dropout that keeps mean and variance of self-normalising networks.",
           [](const Tensor& input, double p, bool train) {
             return alpha_dropped("alpha_dropout", input, p, train, input.sizes());
           })
        .shown(Shown::as_function)
        .random()
        .samples(inputs);
const auto feature_alpha_dropout_entry =
    define(feature_alpha_dropout, "alpha_dropout of whole channels.",
           [](const Tensor& input, double p, bool train) {
             return alpha_dropped("feature_alpha_dropout", input, p, train,
                                  channel_sizes("feature_alpha_dropout", input));
           })
        .shown(Shown::as_function)
        .random()
        .samples(inputs);

// ---- activations with random parts

const auto rrelu_with_slopes_entry =
    define(rrelu_with_slopes, "Self times slopes, which have no gradient.",
           [](const Tensor& self, const Tensor& slopes) { return self * slopes; })
        .shown(Shown::nowhere)
        .vjp("RreluWithNoiseBackward0",
             wrt(0, saves::in(1), [](const Vjp& v) { return v.grad() * v.in(1); }),
             wrt(1, saves::nothing,
                 [](const Vjp&) { return ops::not_differentiable("rrelu", "the slopes"); }))
        .samples([] { return Samples{{{sample({5}), sample({5})}}}; });
const auto rrelu_entry =
    define(rrelu, "Self where positive, else self * a slope in [lower, upper).",
           [](const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
              const std::optional<Generator>& generator) {
             double low = lower.to_double(), high = upper.to_double();
             if (!is_floating(self.dtype())) {
               fail(ErrorKind::not_implemented,
                    "rrelu: not implemented for {}; convert to a floating dtype",
                    name(self.dtype()));
             }
             if (!(low <= high)) fail("rrelu: lower {} is greater than upper {}", low, high);
             Tensor slopes = training ? functional::uniform(self.detach(), low, high, generator)
                                      : to(Tensor((low + high) / 2), self.dtype());
             return rrelu_with_slopes(self, to(where(self <= 0, slopes, 1), self.dtype()));
           })
        .shown(Shown::as_function)
        .inplace_as_function()
        .inplace()
        .random()
        .samples([] {
          return Samples{{{sample({2, 5})}},
                         {{sample({2, 5}), Scalar(0.1), Scalar(0.4), Scalar(true)}, "training"}};
        });

const auto gumbel_softmax_entry =
    define(gumbel_softmax,
           "softmax((logits + Gumbel noise) / tau); hard: one-hot, with its gradient.",
           [](const Tensor& logits, double tau, bool hard, int64_t dim) {
             Tensor noise = -log(functional::exponential(logits.detach(), 1));
             Tensor soft = softmax((logits + noise) / tau, dim);
             if (!hard) return soft;
             Tensor none = zeros_like(soft), most = argmax(soft, dim, true);
             return scatter_value(none, dim, most, Scalar(1)) - soft.detach() + soft;
           })
        .shown(Shown::in_nn)
        .random()
        .samples([] {
          return Samples{{{sample({2, 5})}},
                         {{sample({2, 5}), Scalar(0.5), Scalar(true)}, "hard", false, false}};
        });

}  // namespace
}  // namespace fg

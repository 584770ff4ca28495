#include "ops/random/dropout.h"

#include "base/fail.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/entry.h"
#include "ops/random/random.h"

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
             if (input.dim() < 2) {
               fail("feature_dropout: the input has sizes {}; expected at least 2 dimensions",
                    text(input.sizes()));
             }
             Dims sizes(input.sizes().size(), 1);
             sizes[0] = input.sizes()[0];
             sizes[1] = input.sizes()[1];
             return dropped("feature_dropout", input, p, train, sizes);
           })
        .random()
        .samples(inputs);

}  // namespace
}  // namespace fg

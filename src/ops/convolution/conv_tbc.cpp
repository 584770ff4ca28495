// A convolution of sequences whose first dimension is time.
#include "base/fail.h"
#include "ir/define.h"
#include "ops/convolution/convolution.h"
#include "ops/copy/copy.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;

namespace {

const auto conv_tbc_entry =
    define(conv_tbc, "The convolution of sequences [times, n, channels].",
           [](const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
             if (self.dim() != 3 || weight.dim() != 3 || bias.dim() != 1) {
               fail(
                   "conv_tbc: got sizes {}, a weight of {} and a bias of {}; expected [times, n, "
                   "channels], [kernel, channels, outputs] and [outputs]",
                   text(self.sizes()), text(weight.sizes()), text(bias.sizes()));
             }
             Tensor x = permute(self, {1, 2, 0}), w = permute(weight, {2, 1, 0});
             return contiguous(permute(conv1d(x, w, bias, 1, pad), {2, 0, 1}));
           })
        .shown(Shown::as_function)
        .samples([] {
          return Samples{{{sample({5, 2, 3}), sample({2, 3, 4}), sample({4}), Scalar(1)}}};
        });

}  // namespace
}  // namespace fg

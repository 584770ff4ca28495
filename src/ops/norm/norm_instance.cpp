// instance_norm and local_response_norm, made of other normalisations and of pooling.
#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/norm/norm.h"
#include "ops/pooling/pooling.h"
#include "ops/rearrange/rearrange.h"
#include "ops/reduce/reduce.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;

namespace {

// ---- instance_norm: batch_norm of a batch of one with n * c channels

void check_instances(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                     bool use_input_stats) {
  if (input.dim() < 3) {
    fail("instance_norm: the input has sizes {}; expected a batch, channels and more dimensions",
         text(input.sizes()));
  }
  if (!use_input_stats && !(running_mean.defined() && running_var.defined())) {
    fail("instance_norm: running_mean and running_var are needed when use_input_stats is false");
  }
}
Tensor repeated(const Tensor& parameter, Dim times) {
  return parameter.defined() ? repeat(parameter, {times}) : parameter;
}
// The mean over the samples, written into the statistics.
void keep_mean(const Tensor& running, const Tensor& repeated, Dim samples) {
  if (!running.defined()) return;
  Tensor rows = reshape(repeated, {samples, running.sizes()[0]});
  running.detach().copy_(mean(rows, Dims{0}));
}

const auto instance_norm_entry =
    define(instance_norm,
           "Normalises each channel of each sample; running statistics are updated in place.",
           [](const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
              const Tensor& weight, const Tensor& bias, bool use_input_stats, double momentum,
              double eps) {
             check_instances(input, running_mean, running_var, use_input_stats);
             Dim n = input.sizes()[0], c = input.sizes()[1];
             Dims flat = input.sizes();
             flat[0] = 1;
             flat[1] = n * c;
             Tensor means = repeated(running_mean, n), variances = repeated(running_var, n);
             Tensor y =
                 batch_norm(reshape(contiguous(input), flat), means, variances, repeated(weight, n),
                            repeated(bias, n), use_input_stats, momentum, eps);
             if (use_input_stats) {
               keep_mean(running_mean, means, n);
               keep_mean(running_var, variances, n);
             }
             return view(y, input.sizes());
           })
        .shown(Shown::in_nn)
        .samples([] {
          return Samples{
              {{sample({2, 2, 3}), Value(), Value(), sample({2}), sample({2})}},
              {{sample({2, 2, 2, 2})}, "no parameters"},
          };
        });

// ---- local_response_norm

const auto local_response_norm_entry =
    define(local_response_norm, "Divides by a power of the mean square of the channels around.",
           [](const Tensor& input, int64_t size, double alpha, double beta, double k) {
             if (input.dim() < 3) {
               fail(ErrorKind::value,
                    "local_response_norm: the input has sizes {}; expected 3 or more dimensions",
                    text(input.sizes()));
             }
             if (size < 1) fail("local_response_norm: size must be positive, but is {}", size);
             if (product(input.sizes()) == 0) return input;
             Dims flat{input.sizes()[0], 1, input.sizes()[1], -1};
             Tensor squares = reshape(input * input, flat);
             squares = constant_pad_nd(squares, {0, 0, size / 2, (size - 1) / 2});
             Tensor means = avg_pool2d(squares, {size, 1}, {1});
             return input / pow(reshape(means, input.sizes()) * alpha + k, beta);
           })
        .shown(Shown::in_nn)
        .samples([] {
          return Samples{
              {{sample({2, 4, 3}), Scalar(3), Scalar(0.5)}},
              {{sample({1, 3, 2, 2}), Scalar(2), Scalar(0.5), Scalar(0.6), Scalar(2.0)}, "even"}};
        });

}  // namespace
}  // namespace fg

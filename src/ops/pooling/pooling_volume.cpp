// Pooling of volumes, and norms of windows.
#include <cmath>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/unary.h"
#include "ops/pooling/pooling.h"
#include "ops/pooling/pooling_kind.h"
#include "ops/reduce/reduce_kind.h"

namespace fg {

using namespace ir;
using ops::averaged;
using ops::averaged_adaptive;
using ops::largest;
using ops::largest_adaptive;

namespace {

Samples max_samples() {
  Tensor x = sample({1, 2, 3, 4, 3});
  return {{{x, Dims{2}}},
          {{x, Dims{3, 2, 2}, Dims{2, 1, 1}, Dims{1, 1, 0}}, "overlapping, padded"},
          {{x, Dims{2}, Dims{1}, Dims{0}, Dims{2}}, "dilation"},
          {{sample({2, 3, 3, 1}), Dims{2, 2, 1}, Dims{2}, Dims{0}, Dims{1}, Scalar(true)},
           "ceil_mode"}};
}
const auto max_pool3d_with_indices_entry =
    define(max_pool3d_with_indices, "The largest element of each window, and its index.",
           [](const Tensor& self, const Dims& kernel, const Dims& stride, const Dims& padding,
              const Dims& dilation, bool ceil_mode) {
             return largest("max_pool3d", self, {kernel, stride, padding, dilation, ceil_mode}, 3);
           })
        .shown(Shown::in_nn)
        .samples(max_samples);
const auto max_pool3d_entry =
    define(max_pool3d, "The largest element of each window.",
           [](const Tensor& self, const Dims& kernel, const Dims& stride, const Dims& padding,
              const Dims& dilation, bool ceil_mode) {
             return std::get<0>(
                 largest("max_pool3d", self, {kernel, stride, padding, dilation, ceil_mode}, 3));
           })
        .shown(Shown::as_function)
        .samples(max_samples);
void check_floating(const char* who, const Tensor& self) {
  if (is_floating(self.dtype())) return;
  fail(ErrorKind::not_implemented, "{}: not implemented for {}; convert to a floating dtype", who,
       name(self.dtype()));
}
const auto adaptive_max_pool3d_entry =
    define(adaptive_max_pool3d, "The largest elements of windows that give the wanted sizes.",
           [](const Tensor& self, const Dims& output_size) {
             check_floating("adaptive_max_pool3d", self);
             return largest_adaptive("adaptive_max_pool3d", self, output_size, 3);
           })
        .shown(Shown::in_nn)
        .samples([] { return Samples{{{sample({1, 2, 3, 4, 2}), Dims{2, 3, 1}}}}; });

const auto avg_pool3d_entry =
    define(avg_pool3d, "The average of each window.",
           [](const Tensor& self, const Dims& kernel, const Dims& stride, const Dims& padding,
              bool ceil_mode, bool count_include_pad, OptInt divisor_override) {
             return averaged(
                 "avg_pool3d", self,
                 {kernel, stride, padding, ceil_mode, count_include_pad, divisor_override}, 3);
           })
        .shown(Shown::in_nn)
        .samples([] {
          Tensor x = sample({1, 2, 3, 4, 3});
          return Samples{
              {{x, Dims{2}}},
              {{x, Dims{3}, Dims{2, 1, 1}, Dims{1}}, "overlapping, padded"},
              {{x, Dims{3}, Dims{2}, Dims{1}, Scalar(true), Scalar(false)}, "ceil, no padding"},
              {{x, Dims{2, 3, 1}, Dims{}, Dims{0, 1, 0}, Scalar(true), Scalar(true), Scalar(5)},
               "divisor"}};
        });
const auto adaptive_avg_pool3d_entry =
    define(adaptive_avg_pool3d, "The averages of windows that give the wanted sizes.",
           [](const Tensor& self, const Dims& output_size) {
             check_floating("adaptive_avg_pool3d", self);
             return averaged_adaptive("adaptive_avg_pool3d", self, output_size, 3);
           })
        .shown(Shown::in_nn)
        .samples([] {
          return Samples{{{sample({1, 2, 3, 4, 2}), Dims{2, 3, 1}}},
                         {{sample({2, 3, 2, 3}), Dims{1}}, "mean"}};
        });

// ---- (sum of x^p over each window)^(1/p); infinite p: the largest or smallest |x|

Dim window_size(const char* who, const Dims& kernel, size_t spatial) {
  if (kernel.size() != 1 && kernel.size() != spatial) {
    fail("{}: expects one number per dimension of a window, got {}", who, text(kernel));
  }
  Dim count = 1;
  for (size_t i = 0; i < spatial; i++) count *= kernel[kernel.size() == 1 ? 0 : i];
  return count;
}
Tensor rooted(const Tensor& means, const Scalar& p, Dim count) {
  Tensor sums = sign(means) * relu(abs(means)) * ops::number_of(count);
  return pow(sums, 1 / p.to_double());
}
const auto lp_pool1d_entry =
    define(lp_pool1d, "The p-norm of each window.",
           [](const Tensor& self, const Scalar& p, const Dims& kernel, const Dims& stride,
              bool ceil_mode) {
             if (std::isinf(p.to_double())) {
               double side = p.to_double() > 0 ? 1 : -1;
               return max_pool1d(abs(self) * side, kernel, stride, Dims{0}, Dims{1}, ceil_mode) *
                      side;
             }
             Tensor means = avg_pool1d(pow(self, Tensor(p)), kernel, stride, Dims{0}, ceil_mode);
             return rooted(means, p, window_size("lp_pool1d", kernel, 1));
           })
        .shown(Shown::in_nn)
        .samples([] { return Samples{{{sample({2, 5}, 0.5, 2), Scalar(3), Dims{2}}}}; });
const auto lp_pool2d_entry =
    define(lp_pool2d, "The p-norm of each window.",
           [](const Tensor& self, const Scalar& p, const Dims& kernel, const Dims& stride,
              bool ceil_mode) {
             if (std::isinf(p.to_double())) {
               double side = p.to_double() > 0 ? 1 : -1;
               return max_pool2d(abs(self) * side, kernel, stride, Dims{0}, Dims{1}, ceil_mode) *
                      side;
             }
             Tensor means = avg_pool2d(pow(self, Tensor(p)), kernel, stride, Dims{0}, ceil_mode);
             return rooted(means, p, window_size("lp_pool2d", kernel, 2));
           })
        .shown(Shown::in_nn)
        .samples([] {
          return Samples{{{sample({1, 2, 4, 5}), Scalar(2), Dims{2}}},
                         {{sample({2, 4, 5}, 0.5, 2), Scalar(1.5), Dims{2, 3}, Dims{1}}, "stride"}};
        });
const auto lp_pool3d_entry =
    define(lp_pool3d, "The p-norm of each window.",
           [](const Tensor& self, const Scalar& p, const Dims& kernel, const Dims& stride,
              bool ceil_mode) {
             if (std::isinf(p.to_double())) {
               double side = p.to_double() > 0 ? 1 : -1;
               return max_pool3d(abs(self) * side, kernel, stride, Dims{0}, Dims{1}, ceil_mode) *
                      side;
             }
             Tensor means = avg_pool3d(pow(self, Tensor(p)), kernel, stride, Dims{0}, ceil_mode);
             return rooted(means, p, window_size("lp_pool3d", kernel, 3));
           })
        .shown(Shown::in_nn)
        .samples([] { return Samples{{{sample({1, 2, 3, 4, 2}), Scalar(2), Dims{2}}}}; });

}  // namespace
}  // namespace fg

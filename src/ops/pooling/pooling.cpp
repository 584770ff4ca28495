#include "ops/pooling/pooling.h"

#include "base/fail.h"
#include "ir/define.h"
#include "ops/pooling/pooling_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::averaged;
using ops::averaged_adaptive;
using ops::largest;
using ops::largest_adaptive;
using ops::WindowArguments;

namespace {

// One dimension is two with a height of 1.
struct Flat {
  Flat(const char* who, const Tensor& self, const Dims& given) : who(who) {
    if (self.dim() != 2 && self.dim() != 3) {
      fail("{}: expects an input of 2 or 3 dimensions, got sizes {}", who, text(self.sizes()));
    }
    if (given.size() != 1) fail("{}: expects one number per argument, got {}", who, text(given));
    plane = unsqueeze(self, -2);
  }
  Dims with(Dim first, const Dims& given) const {
    if (given.empty()) return {};
    if (given.size() != 1) fail("{}: expects one number per argument, got {}", who, text(given));
    return {first, given[0]};
  }
  const char* who;
  Tensor plane;
};

using Pair = std::tuple<Tensor, Tensor>;

// ---- maximum

Pair largest_flat(const char* who, const Tensor& self, const WindowArguments& a) {
  Flat flat(who, self, a.kernel);
  auto [values, indices] = largest(who, flat.plane,
                                   {flat.with(1, a.kernel), flat.with(1, a.stride),
                                    flat.with(0, a.padding), flat.with(1, a.dilation), a.ceil_mode},
                                   2);
  return {squeeze(values, -2), squeeze(indices, -2)};
}

Samples max_samples(const Tensor& plain, const Tensor& small) {
  return {{{plain, Dims{2}}},
          {{plain, Dims{3}, Dims{2}, Dims{1}}, "overlapping, padded"},
          {{plain, Dims{2}, Dims{1}, Dims{0}, Dims{2}}, "dilation"},
          {{small, Dims{2}, Dims{2}, Dims{0}, Dims{1}, Scalar(true)}, "ceil_mode"}};
}
Samples max_samples_2d() { return max_samples(sample({1, 2, 4, 5}), sample({1, 3, 3})); }
Samples max_samples_1d() { return max_samples(sample({1, 2, 5}), sample({2, 5})); }

const auto max_pool2d_with_indices_entry =
    define(max_pool2d_with_indices, "The largest element of each window, and its index.",
           [](const Tensor& self, const Dims& kernel, const Dims& stride, const Dims& padding,
              const Dims& dilation, bool ceil_mode) {
             return largest("max_pool2d", self, {kernel, stride, padding, dilation, ceil_mode}, 2);
           })
        .shown(Shown::in_nn)
        .samples(max_samples_2d);
const auto max_pool2d_entry =
    define(max_pool2d, "The largest element of each window.",
           [](const Tensor& self, const Dims& kernel, const Dims& stride, const Dims& padding,
              const Dims& dilation, bool ceil_mode) {
             return std::get<0>(
                 largest("max_pool2d", self, {kernel, stride, padding, dilation, ceil_mode}, 2));
           })
        .shown(Shown::as_function)
        .samples(max_samples_2d);
const auto max_pool1d_with_indices_entry =
    define(max_pool1d_with_indices, "The largest element of each window, and its index.",
           [](const Tensor& self, const Dims& kernel, const Dims& stride, const Dims& padding,
              const Dims& dilation, bool ceil_mode) {
             return largest_flat("max_pool1d", self,
                                 {kernel, stride, padding, dilation, ceil_mode});
           })
        .shown(Shown::in_nn)
        .samples(max_samples_1d);
const auto max_pool1d_entry =
    define(max_pool1d, "The largest element of each window.",
           [](const Tensor& self, const Dims& kernel, const Dims& stride, const Dims& padding,
              const Dims& dilation, bool ceil_mode) {
             return std::get<0>(
                 largest_flat("max_pool1d", self, {kernel, stride, padding, dilation, ceil_mode}));
           })
        .shown(Shown::as_function)
        .samples(max_samples_1d);

const auto adaptive_max_pool2d_entry =
    define(adaptive_max_pool2d, "The largest elements of windows that give the wanted sizes.",
           [](const Tensor& self, const Dims& output_size) {
             return largest_adaptive("adaptive_max_pool2d", self, output_size, 2);
           })
        .shown(Shown::in_nn)
        .samples([] { return Samples{{{sample({1, 2, 4, 5}), Dims{3, 2}}}}; });
const auto adaptive_max_pool1d_entry =
    define(adaptive_max_pool1d, "The largest elements of windows that give the wanted size.",
           [](const Tensor& self, const Dims& output_size) -> Pair {
             Flat flat("adaptive_max_pool1d", self, output_size);
             auto [values, indices] =
                 largest_adaptive(flat.who, flat.plane, flat.with(1, output_size), 2);
             return {squeeze(values, -2), squeeze(indices, -2)};
           })
        .shown(Shown::as_function)
        .samples([] { return Samples{{{sample({1, 2, 5}), Dims{3}}}}; });

// ---- average

const auto avg_pool2d_entry =
    define(avg_pool2d, "The average of each window.",
           [](const Tensor& self, const Dims& kernel, const Dims& stride, const Dims& padding,
              bool ceil_mode, bool count_include_pad, OptInt divisor_override) {
             return averaged(
                 "avg_pool2d", self,
                 {kernel, stride, padding, ceil_mode, count_include_pad, divisor_override}, 2);
           })
        .shown(Shown::in_nn)
        .samples([] {
          Tensor x = sample({1, 2, 4, 5});
          return Samples{
              {{x, Dims{2}}},
              {{x, Dims{3}, Dims{2}, Dims{1}}, "overlapping, padded"},
              {{x, Dims{3}, Dims{2}, Dims{1}, Scalar(true), Scalar(false)}, "ceil, no padding"},
              {{x, Dims{2, 3}, Dims{}, Dims{0, 1}, Scalar(true), Scalar(true), Scalar(5)},
               "divisor"}};
        });
const auto avg_pool1d_entry =
    define(avg_pool1d, "The average of each window.",
           [](const Tensor& self, const Dims& kernel, const Dims& stride, const Dims& padding,
              bool ceil_mode, bool count_include_pad) {
             Flat flat("avg_pool1d", self, kernel);
             Tensor result = averaged(flat.who, flat.plane,
                                      {flat.with(1, kernel), flat.with(1, stride),
                                       flat.with(0, padding), ceil_mode, count_include_pad},
                                      2);
             return squeeze(result, -2);
           })
        .shown(Shown::as_function)
        .samples([] {
          return Samples{{{sample({2, 5}), Dims{2}}},
                         {{sample({1, 2, 5}), Dims{3}, Dims{2}, Dims{1}, Scalar(true)}, "ceil"}};
        });

const auto adaptive_avg_pool2d_entry =
    define(adaptive_avg_pool2d, "The averages of windows that give the wanted sizes.",
           [](const Tensor& self, const Dims& output_size) {
             return averaged_adaptive("adaptive_avg_pool2d", self, output_size, 2);
           })
        .shown(Shown::in_nn)
        .samples([] {
          return Samples{{{sample({1, 2, 4, 5}), Dims{3, 2}}},
                         {{sample({2, 3, 3}), Dims{1}}, "mean"}};
        });
const auto adaptive_avg_pool1d_entry =
    define(adaptive_avg_pool1d, "The averages of windows that give the wanted size.",
           [](const Tensor& self, const Dims& output_size) {
             Flat flat("adaptive_avg_pool1d", self, output_size);
             return squeeze(averaged_adaptive(flat.who, flat.plane, flat.with(1, output_size), 2),
                            -2);
           })
        .shown(Shown::as_function)
        .samples([] { return Samples{{{sample({1, 2, 5}), Dims{3}}}}; });

}  // namespace
}  // namespace fg

#include "ops/pooling/pooling.h"

#include <algorithm>
#include <limits>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/index/index.h"
#include "ops/kernels/strided.h"
#include "ops/pooling/pooling_kernel.h"
#include "ops/reduce/reduce.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

// ---- primitives over the last two dimensions

struct PoolParams {
  Dims input{}, output{};  // sizes of the last two dimensions
  // Two entries each; empty for adaptive windows, which share the input evenly.
  Dims kernel{}, stride{}, padding{}, dilation{};
  bool count_include_pad = true;
  int64_t divisor_override = 0;  // 0: none
  bool operator==(const PoolParams&) const = default;
};

Dims with_plane(const Dims& sizes, const Dims& plane) {
  Dims result = sizes;
  std::copy(plane.begin(), plane.end(), result.end() - 2);
  return result;
}

void infer_max(Operands inputs, const PoolParams& p, Meta* out) {
  out[0].sizes = out[1].sizes = with_plane(inputs[0]->sizes(), p.output);
  out[0].dtype = inputs[0]->dtype();
  out[1].dtype = kInt64;
}
void infer_average(Operands inputs, const PoolParams& p, Meta* out) {
  out[0].sizes = with_plane(inputs[0]->sizes(), p.output);
  out[0].dtype = inputs[0]->dtype();
}
void infer_spread(Operands inputs, const PoolParams& p, Meta* out) {
  out[0].sizes = with_plane(inputs[0]->sizes(), p.input);
  out[0].dtype = inputs[0]->dtype();
}

kernels::PoolGeometry geometry(const PoolParams& p, const Tensor& tensor) {
  auto axis = [&](size_t i) {
    int64_t size = p.input[i].value(), results = p.output[i].value();
    if (p.kernel.empty()) return kernels::adaptive_windows(size, results);
    return kernels::fixed_windows(size, results, p.kernel[i].value(), p.stride[i].value(),
                                  p.padding[i].value(), p.dilation[i].value());
  };
  int64_t planes = 1;
  for (size_t i = 0; i + 2 < tensor.sizes().size(); i++) planes *= tensor.sizes()[i].value();
  return {planes, axis(0), axis(1)};
}

void evaluate_max(Operands inputs, const PoolParams& p, Tensor* out) {
  if (out[0].numel() == 0) return;  // of any size, then
  Tensor input = kernels::as_contiguous(*inputs[0]);
  kernels::max_pool(input.dtype(), geometry(p, input), input.data_ptr(), out[0].data_ptr(),
                    out[1].data_ptr<int64_t>());
}
void evaluate_average(Operands inputs, const PoolParams& p, Tensor* out) {
  if (out[0].numel() == 0) return;
  Tensor input = kernels::as_contiguous(*inputs[0]);
  kernels::average_pool(input.dtype(), geometry(p, input),
                        {p.count_include_pad, p.divisor_override}, input.data_ptr(),
                        out[0].data_ptr());
}
void evaluate_spread(Operands inputs, const PoolParams& p, Tensor* out) {
  if (out[0].numel() == 0) return;
  Tensor output = kernels::as_contiguous(*inputs[0]);
  kernels::average_pool_spread(output.dtype(), geometry(p, output),
                               {p.count_include_pad, p.divisor_override}, output.data_ptr(),
                               out[0].data_ptr());
}

// The gradient goes where the largest elements were: a gather's backward over flat planes.
Tensor spread_max(const Vjp& v, const PoolParams& p) {
  if (!v.grad().defined()) return {};
  auto flat = [](const Dims& sizes) {
    Dims result = sizes;
    Dim width = result.back();
    result.pop_back();
    result[result.size() - 1] *= width;
    return result;
  };
  const Dims& sizes = v.grad().sizes();
  Dims input = with_plane(sizes, p.input);
  Tensor index = reshape(v.out(1), flat(sizes));
  return reshape(gather_backward(reshape(v.grad(), flat(sizes)), flat(input), -1, index), input);
}

// ---- demands on graphs from outside, which the functions below meet

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
bool all_between(const Dims& pair, int64_t least, int64_t most) {
  return pair.size() == 2 && pair[0] >= least && pair[0] <= most && pair[1] >= least &&
         pair[1] <= most;
}

// The window of the last result begins inside of the input or of the padding before it.
bool windows_fit(const PoolParams& p, size_t i) {
  if (p.output[i] == 0) return true;
  if (p.kernel.empty()) return p.input[i] > 0;
  Dim reach = p.dilation[i] * (p.kernel[i] - 1) + 1, last = p.output[i] - 1;
  Dim room = p.input[i] + p.padding[i] - 1;
  return p.padding[i] * 2 <= reach && last <= room / p.stride[i];
}

void require_windows(const Dims& sizes, const Dims& plane, const PoolParams& p) {
  bool usable = sizes.size() >= 2 && all_between(p.input, 0, kMost) &&
                all_between(p.output, 0, kMost) && sizes[sizes.size() - 2] == plane[0] &&
                sizes.back() == plane[1];
  if (usable && !p.kernel.empty()) {
    usable = all_between(p.kernel, 1, kMost) && all_between(p.padding, 0, kMost) &&
             all_between(p.stride, 1, 4 * kMost) && all_between(p.dilation, 1, kMost);
  }
  ops::demand(usable && windows_fit(p, 0) && windows_fit(p, 1), "a pool",
              "windows that lie in the last two dimensions");
}

void require_max(Operands inputs, const PoolParams& p) {
  require_windows(inputs[0]->sizes(), p.input, p);
  ops::demand(is_real(inputs[0]->dtype()), "max_pool", "numbers");
}
template <bool transposed>
void require_average(Operands inputs, const PoolParams& p) {
  require_windows(inputs[0]->sizes(), transposed ? p.output : p.input, p);
  DType dtype = inputs[0]->dtype();
  ops::demand(is_floating(dtype) || dtype == kInt64, "average_pool", "floats or int64");
}

Primitive<PoolParams> max_primitive(const char* name, const char* node) {
  return plain_primitive<PoolParams, infer_max, evaluate_max>(name, Kind::reduce, "t", 2)
      .requiring<require_max>()
      .vjp(node, wrt(0, saves::out(1),
                     [](const Vjp& v, const PoolParams& p) { return spread_max(v, p); }));
}
const Registered max_p = max_primitive("max_pool", "MaxPool2DWithIndicesBackward0");
const Registered adaptive_max_p = max_primitive("adaptive_max_pool", "AdaptiveMaxPool2DBackward0");

// Averages are linear, so the gradient is the transpose, whose gradient is the average again.
Tensor spread(const PoolParams& p, const Tensor& grad);
Primitive<PoolParams> average_primitive(const char* name, const char* node) {
  return plain_primitive<PoolParams, infer_average, evaluate_average>(name, Kind::reduce, "t")
      .requiring<require_average<false>>()
      .linear_in({0})
      .vjp(node, wrt(0, saves::nothing,
                     [](const Vjp& v, const PoolParams& p) { return spread(p, v.grad()); }));
}
const Registered average_p = average_primitive("average_pool", "AvgPool2DBackward0");
const Registered adaptive_average_p =
    average_primitive("adaptive_average_pool", "AdaptiveAvgPool2DBackward0");
const Registered spread_p = plain_primitive<PoolParams, infer_spread, evaluate_spread>(
                                "average_pool_spread", Kind::scatter, "t")
                                .requiring<require_average<true>>()
                                .linear_in({0})
                                .vjp("AvgPool2DBackwardBackward0",
                                     wrt(0, saves::nothing, [](const Vjp& v, const PoolParams& p) {
                                       return average_p.with(p, v.grad());
                                     }));
Tensor spread(const PoolParams& p, const Tensor& grad) { return spread_p.with(p, grad); }

// ---- from arguments to windows

// Kernels, paddings and dilations are at most kMost: their products have 64 bits to fit into.
constexpr int64_t kAny = std::numeric_limits<int64_t>::max();

struct WindowArguments {
  const Dims &kernel, &stride, &padding, &dilation;
  bool ceil_mode;
};

Dims pair(const char* who, const char* what, const Dims& given, Dim least, Dim most = kMost) {
  if (given.size() != 1 && given.size() != 2) {
    fail("{}: {} must be one or two numbers, got {}", who, what, text(given));
  }
  for (Dim value : given) {
    if (value < least)
      fail("{}: {} {} must not be less than {}", who, what, text(given), least.text());
    if (value > most)
      fail("{}: {} {} must not be greater than {}", who, what, text(given), most.text());
  }
  return {given[0], given.back()};
}

void check_input(const char* who, const Tensor& self) {
  const Dims& sizes = self.sizes();
  bool usable = sizes.size() == 3 || sizes.size() == 4;
  for (size_t i = sizes.size() == 4 ? 1 : 0; usable && i < sizes.size(); i++) {
    usable = !(sizes[i] == 0);
  }
  if (usable) return;
  fail(
      "{}: expects an input of channels and planes, with or without a batch, where only the batch "
      "may be empty; got sizes {}",
      who, text(sizes));
}

// A stride that leaves the input at once becomes a shorter one that does, so that positions are
// numbers.
Dim pooled_size(const char* who, Dim size, PoolParams& p, size_t i, bool ceil_mode) {
  Dim reach = p.dilation[i] * (p.kernel[i] - 1) + 1;
  if (p.padding[i] * 2 > reach) {
    fail("{}: padding {} must be at most half of the kernel {} with dilation {}", who,
         text(p.padding), text(p.kernel), text(p.dilation));
  }
  Dim room = size + p.padding[i] * 2 - reach;
  if (p.stride[i] > kMost) p.stride[i] = min(p.stride[i], size + p.padding[i] * 2 + reach);
  Dim count = (ceil_mode ? room + p.stride[i] - 1 : room) / p.stride[i] + 1;
  // The last window must begin inside the input or the padding before it.
  if (ceil_mode && (count - 1) * p.stride[i] >= size + p.padding[i]) count -= 1;
  if (count < 1) {
    fail("{}: the kernel {} is larger than the padded input; the result would have size {}", who,
         text(p.kernel), count.text());
  }
  return count;
}

PoolParams windows(const char* who, const Tensor& self, const WindowArguments& arguments) {
  PoolParams p{.kernel = pair(who, "kernel_size", arguments.kernel, 1),
               .padding = pair(who, "padding", arguments.padding, 0),
               .dilation = pair(who, "dilation", arguments.dilation, 1)};
  p.stride = arguments.stride.empty() ? p.kernel : pair(who, "stride", arguments.stride, 1, kAny);
  for (size_t i = 0; i < 2; i++) {
    p.input.push_back(self.sizes()[self.sizes().size() - 2 + i]);
    p.output.push_back(pooled_size(who, p.input[i], p, i, arguments.ceil_mode));
  }
  return p;
}

PoolParams adaptive(const char* who, const Tensor& self, const Dims& output_size) {
  const Dims& sizes = self.sizes();
  return {.input = {sizes[sizes.size() - 2], sizes.back()},
          .output = pair(who, "output_size", output_size, 0, kAny)};
}

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

void check_number(const char* who, const Tensor& self) {
  if (is_real(self.dtype())) return;
  fail(ErrorKind::not_implemented, "{}: not implemented for {}", who, name(self.dtype()));
}
void check_averages(const char* who, const Tensor& self) {
  if (is_floating(self.dtype()) || self.dtype() == kInt64) return;
  fail(ErrorKind::not_implemented, "{}: not implemented for {}; convert to a floating dtype", who,
       name(self.dtype()));
}

using Pair = std::tuple<Tensor, Tensor>;

// ---- maximum

Pair largest(const char* who, const Tensor& self, const WindowArguments& arguments) {
  check_number(who, self);
  check_input(who, self);
  auto [values, indices] = max_p.all<2>(windows(who, self, arguments), self);
  return {values, indices};
}

Pair largest_flat(const char* who, const Tensor& self, const WindowArguments& a) {
  Flat flat(who, self, a.kernel);
  auto [values, indices] =
      largest(who, flat.plane,
              {flat.with(1, a.kernel), flat.with(1, a.stride), flat.with(0, a.padding),
               flat.with(1, a.dilation), a.ceil_mode});
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
             return largest("max_pool2d", self, {kernel, stride, padding, dilation, ceil_mode});
           })
        .shown(Shown::in_nn)
        .samples(max_samples_2d);
const auto max_pool2d_entry =
    define(max_pool2d, "The largest element of each window.",
           [](const Tensor& self, const Dims& kernel, const Dims& stride, const Dims& padding,
              const Dims& dilation, bool ceil_mode) {
             return std::get<0>(
                 largest("max_pool2d", self, {kernel, stride, padding, dilation, ceil_mode}));
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

Pair largest_adaptive(const char* who, const Tensor& self, const Dims& output_size) {
  check_number(who, self);
  check_input(who, self);
  auto [values, indices] = adaptive_max_p.all<2>(adaptive(who, self, output_size), self);
  return {values, indices};
}

const auto adaptive_max_pool2d_entry =
    define(adaptive_max_pool2d, "The largest elements of windows that give the wanted sizes.",
           [](const Tensor& self, const Dims& output_size) {
             return largest_adaptive("adaptive_max_pool2d", self, output_size);
           })
        .shown(Shown::in_nn)
        .samples([] { return Samples{{{sample({1, 2, 4, 5}), Dims{3, 2}}}}; });
const auto adaptive_max_pool1d_entry =
    define(adaptive_max_pool1d, "The largest elements of windows that give the wanted size.",
           [](const Tensor& self, const Dims& output_size) -> Pair {
             Flat flat("adaptive_max_pool1d", self, output_size);
             auto [values, indices] =
                 largest_adaptive(flat.who, flat.plane, flat.with(1, output_size));
             return {squeeze(values, -2), squeeze(indices, -2)};
           })
        .shown(Shown::as_function)
        .samples([] { return Samples{{{sample({1, 2, 5}), Dims{3}}}}; });

// ---- average

struct AverageArguments {
  const Dims &kernel, &stride, &padding;
  bool ceil_mode, count_include_pad;
  OptInt divisor_override{};
};

Tensor averaged(const char* who, const Tensor& self, const AverageArguments& a) {
  check_averages(who, self);
  check_input(who, self);
  if (a.divisor_override && *a.divisor_override == 0) {
    fail("{}: divisor_override must not be zero", who);
  }
  PoolParams p = windows(who, self, {a.kernel, a.stride, a.padding, Dims{1}, a.ceil_mode});
  p.count_include_pad = a.count_include_pad;
  p.divisor_override = a.divisor_override.value_or(0);
  return average_p.with(p, self);
}

const auto avg_pool2d_entry =
    define(avg_pool2d, "The average of each window.",
           [](const Tensor& self, const Dims& kernel, const Dims& stride, const Dims& padding,
              bool ceil_mode, bool count_include_pad, OptInt divisor_override) {
             return averaged(
                 "avg_pool2d", self,
                 {kernel, stride, padding, ceil_mode, count_include_pad, divisor_override});
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
                                       flat.with(0, padding), ceil_mode, count_include_pad});
             return squeeze(result, -2);
           })
        .shown(Shown::as_function)
        .samples([] {
          return Samples{{{sample({2, 5}), Dims{2}}},
                         {{sample({1, 2, 5}), Dims{3}, Dims{2}, Dims{1}, Scalar(true)}, "ceil"}};
        });

Tensor averaged_adaptive(const char* who, const Tensor& self, const Dims& output_size) {
  check_averages(who, self);
  check_input(who, self);
  PoolParams p = adaptive(who, self, output_size);
  if (p.output[0] == 1 && p.output[1] == 1) return mean(self, Dims{-1, -2}, true);
  return adaptive_average_p.with(p, self);
}

const auto adaptive_avg_pool2d_entry =
    define(adaptive_avg_pool2d, "The averages of windows that give the wanted sizes.",
           [](const Tensor& self, const Dims& output_size) {
             return averaged_adaptive("adaptive_avg_pool2d", self, output_size);
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
             return squeeze(averaged_adaptive(flat.who, flat.plane, flat.with(1, output_size)), -2);
           })
        .shown(Shown::as_function)
        .samples([] { return Samples{{{sample({1, 2, 5}), Dims{3}}}}; });

}  // namespace
}  // namespace fg

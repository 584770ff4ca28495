#include "ops/pooling/pooling_kind.h"

#include <algorithm>
#include <limits>

#include "base/fail.h"
#include "ops/index/index.h"
#include "ops/kernels/strided.h"
#include "ops/pooling/pooling_kernel.h"
#include "ops/reduce/reduce.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg::ops {

using namespace ir;

namespace {

// ---- primitives over the last two or three dimensions

Dims with_volume(const Dims& sizes, const Dims& volume) {
  Dims result = sizes;
  std::copy(volume.begin(), volume.end(), result.end() - volume.size());
  return result;
}

void infer_max(Operands inputs, const PoolParams& p, Meta* out) {
  out[0].sizes = out[1].sizes = with_volume(inputs[0]->sizes(), p.output);
  out[0].dtype = inputs[0]->dtype();
  out[1].dtype = kInt64;
}
void infer_average(Operands inputs, const PoolParams& p, Meta* out) {
  out[0].sizes = with_volume(inputs[0]->sizes(), p.output);
  out[0].dtype = inputs[0]->dtype();
}
void infer_spread(Operands inputs, const PoolParams& p, Meta* out) {
  out[0].sizes = with_volume(inputs[0]->sizes(), p.input);
  out[0].dtype = inputs[0]->dtype();
}

kernels::PoolGeometry geometry(const PoolParams& p, const Tensor& tensor) {
  auto axis = [&](size_t i) {
    int64_t size = p.input[i].value(), results = p.output[i].value();
    if (p.kernel.empty()) return kernels::adaptive_windows(size, results);
    return kernels::fixed_windows(size, results, p.kernel[i].value(), p.stride[i].value(),
                                  p.padding[i].value(), p.dilation[i].value());
  };
  size_t spatial = p.input.size();
  int64_t volumes = 1;
  for (size_t i = 0; i + spatial < tensor.sizes().size(); i++) volumes *= tensor.sizes()[i].value();
  if (spatial == 2) return {volumes, {1, 1, {{0, 1, 1}}}, axis(0), axis(1)};
  return {volumes, axis(0), axis(1), axis(2)};
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

Tensor spread_max(const Vjp& v, const PoolParams& p) {
  return v.grad().defined() ? to_largest(v.grad(), v.out(1), p.input) : Tensor();
}

// ---- demands on graphs from outside, which the functions below meet

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
bool all_between(const Dims& numbers, size_t count, int64_t least, int64_t most) {
  bool fits = numbers.size() == count;
  for (Dim number : numbers) fits = fits && number >= least && number <= most;
  return fits;
}

// The window of the last result begins inside of the input or of the padding before it.
bool windows_fit(const PoolParams& p, size_t i) {
  if (p.output[i] == 0) return true;
  if (p.kernel.empty()) return p.input[i] > 0;
  Dim reach = p.dilation[i] * (p.kernel[i] - 1) + 1, last = p.output[i] - 1;
  Dim room = p.input[i] + p.padding[i] - 1;
  return p.padding[i] * 2 <= reach && last <= room / p.stride[i];
}

void require_windows(const Dims& sizes, const Dims& volume, const PoolParams& p) {
  size_t count = p.input.size();
  bool usable = (count == 2 || count == 3) && sizes.size() >= count &&
                all_between(p.input, count, 0, kMost) && all_between(p.output, count, 0, kMost) &&
                with_volume(sizes, volume) == sizes;
  if (usable && !p.kernel.empty()) {
    usable = all_between(p.kernel, count, 1, kMost) && all_between(p.padding, count, 0, kMost) &&
             all_between(p.stride, count, 1, 4 * kMost) && all_between(p.dilation, count, 1, kMost);
  }
  for (size_t i = 0; usable && i < count; i++) usable = windows_fit(p, i);
  demand(usable, "a pool", "windows that lie in the last two or three dimensions");
}

void require_max(Operands inputs, const PoolParams& p) {
  require_windows(inputs[0]->sizes(), p.input, p);
  demand(is_real(inputs[0]->dtype()), "max_pool", "numbers");
}
template <bool transposed>
void require_average(Operands inputs, const PoolParams& p) {
  require_windows(inputs[0]->sizes(), transposed ? p.output : p.input, p);
  DType dtype = inputs[0]->dtype();
  demand(is_floating(dtype) || dtype == kInt64, "average_pool", "floats or int64");
}

Primitive<PoolParams> max_primitive(const char* name, const char* node) {
  return plain_primitive<PoolParams, infer_max, evaluate_max>(name, Kind::reduce, "t", 2)
      .requiring<require_max>()
      .vjp(node, wrt(0, saves::out(1),
                     [](const Vjp& v, const PoolParams& p) { return spread_max(v, p); }));
}
const Registered max_p = max_primitive("max_pool", "MaxPool2DWithIndicesBackward0");
const Registered max3_p = max_primitive("max_pool3d", "MaxPool3DWithIndicesBackward0");
const Registered adaptive_max_p = max_primitive("adaptive_max_pool", "AdaptiveMaxPool2DBackward0");
const Registered adaptive_max3_p =
    max_primitive("adaptive_max_pool3d", "AdaptiveMaxPool3DBackward0");

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
const Registered average3_p = average_primitive("average_pool3d", "AvgPool3DBackward0");
const Registered adaptive_average_p =
    average_primitive("adaptive_average_pool", "AdaptiveAvgPool2DBackward0");
const Registered adaptive_average3_p =
    average_primitive("adaptive_average_pool3d", "AdaptiveAvgPool3DBackward0");
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

// One number stands for all of them.
Dims numbers(const char* who, const char* what, const Dims& given, size_t count, Dim least,
             Dim most = kMost) {
  if (given.size() != 1 && given.size() != count) {
    fail("{}: {} must be one or {} numbers, got {}", who, what, count == 2 ? "two" : "three",
         text(given));
  }
  for (Dim value : given) {
    if (value < least)
      fail("{}: {} {} must not be less than {}", who, what, text(given), least.text());
    if (value > most)
      fail("{}: {} {} must not be greater than {}", who, what, text(given), most.text());
  }
  return given.size() == count ? given : Dims(count, given[0]);
}

void check_input(const char* who, const Tensor& self, size_t spatial) {
  const Dims& sizes = self.sizes();
  bool usable = sizes.size() == spatial + 1 || sizes.size() == spatial + 2;
  for (size_t i = sizes.size() == spatial + 2 ? 1 : 0; usable && i < sizes.size(); i++) {
    usable = !(sizes[i] == 0);
  }
  if (usable) return;
  fail(
      "{}: expects an input of channels and {}, with or without a batch, where only the batch "
      "may be empty; got sizes {}",
      who, spatial == 2 ? "planes" : "volumes", text(sizes));
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

PoolParams windows(const char* who, const Tensor& self, const WindowArguments& given,
                   size_t spatial) {
  PoolParams p{.kernel = numbers(who, "kernel_size", given.kernel, spatial, 1),
               .padding = numbers(who, "padding", given.padding, spatial, 0),
               .dilation = numbers(who, "dilation", given.dilation, spatial, 1)};
  p.stride =
      given.stride.empty() ? p.kernel : numbers(who, "stride", given.stride, spatial, 1, kAny);
  for (size_t i = 0; i < spatial; i++) {
    p.input.push_back(self.sizes()[self.sizes().size() - spatial + i]);
    p.output.push_back(pooled_size(who, p.input[i], p, i, given.ceil_mode));
  }
  return p;
}

PoolParams adaptive(const char* who, const Tensor& self, const Dims& output_size, size_t spatial) {
  const Dims& sizes = self.sizes();
  PoolParams p{.output = numbers(who, "output_size", output_size, spatial, 0, kAny)};
  for (size_t i = 0; i < spatial; i++) p.input.push_back(sizes[sizes.size() - spatial + i]);
  return p;
}

void check_number(const char* who, const Tensor& self) {
  if (is_real(self.dtype())) return;
  fail(ErrorKind::not_implemented, "{}: not implemented for {}", who, name(self.dtype()));
}
void check_averages(const char* who, const Tensor& self) {
  if (is_floating(self.dtype()) || self.dtype() == kInt64) return;
  fail(ErrorKind::not_implemented, "{}: not implemented for {}; convert to a floating dtype", who,
       name(self.dtype()));
}

}  // namespace

Tensor to_largest(const Tensor& grad, const Tensor& index, const Dims& volume) {
  auto flat = [&](const Dims& sizes) {
    Dims result = sizes;
    Dim count = 1;
    for (size_t i = 0; i < volume.size(); i++) {
      count *= result.back();
      result.pop_back();
    }
    result.push_back(count);
    return result;
  };
  Dims input = with_volume(grad.sizes(), volume);
  Tensor at = reshape(index, flat(grad.sizes()));
  return reshape(gather_backward(reshape(grad, flat(grad.sizes())), flat(input), -1, at), input);
}

std::tuple<Tensor, Tensor> largest(const char* who, const Tensor& self,
                                   const WindowArguments& arguments, size_t spatial) {
  check_number(who, self);
  check_input(who, self, spatial);
  PoolParams p = windows(who, self, arguments, spatial);
  auto [values, indices] = (spatial == 2 ? max_p : max3_p).all<2>(p, self);
  return {values, indices};
}

std::tuple<Tensor, Tensor> largest_adaptive(const char* who, const Tensor& self,
                                            const Dims& output_size, size_t spatial) {
  check_number(who, self);
  check_input(who, self, spatial);
  PoolParams p = adaptive(who, self, output_size, spatial);
  auto [values, indices] = (spatial == 2 ? adaptive_max_p : adaptive_max3_p).all<2>(p, self);
  return {values, indices};
}

Tensor averaged(const char* who, const Tensor& self, const AverageArguments& a, size_t spatial) {
  check_averages(who, self);
  check_input(who, self, spatial);
  if (a.divisor_override && *a.divisor_override == 0) {
    fail("{}: divisor_override must not be zero", who);
  }
  PoolParams p = windows(who, self, {a.kernel, a.stride, a.padding, Dims{1}, a.ceil_mode}, spatial);
  p.count_include_pad = a.count_include_pad;
  p.divisor_override = a.divisor_override.value_or(0);
  return (spatial == 2 ? average_p : average3_p).with(p, self);
}

Tensor averaged_adaptive(const char* who, const Tensor& self, const Dims& output_size,
                         size_t spatial) {
  check_averages(who, self);
  check_input(who, self, spatial);
  PoolParams p = adaptive(who, self, output_size, spatial);
  Dims last;
  bool whole = true;
  for (size_t i = 0; i < spatial; i++) {
    last.push_back(-1 - static_cast<int64_t>(i));
    whole = whole && p.output[i] == 1;
  }
  if (whole) return mean(self, last, true);
  return (spatial == 2 ? adaptive_average_p : adaptive_average3_p).with(p, self);
}

}  // namespace fg::ops

#include "ops/convolution/convolve_kind.h"

#include <limits>

#include "ops/convolution/convolution_kernel.h"
#include "ops/kernels/strided.h"
#include "ops/reduce/reduce.h"
#include "ops/view/view_kind.h"

namespace fg::ops {

using namespace ir;

namespace {

kernels::Spatial spatial(const Dims& dims, size_t skip, int64_t fill) {
  kernels::Spatial result{fill, fill, fill};
  for (size_t i = skip; i < dims.size(); i++) {
    result[3 - dims.size() + i] = dims[i].value();
  }
  return result;
}

}  // namespace

kernels::ConvGeometry geometry(const Dims& x, const Dims& w, const Dims& y, const ConvParams& p) {
  return {.batch = x[0].value(),
          .groups = p.groups,
          .in_channels = w[1].value(),
          .out_channels = w[0].value() / p.groups,
          .input = spatial(x, 2, 1),
          .kernel = spatial(w, 2, 1),
          .output = spatial(y, 2, 1),
          .stride = spatial(p.stride, 0, 1),
          .padding = spatial(p.padding, 0, 0),
          .dilation = spatial(p.dilation, 0, 1)};
}

// ---- shape rules

void infer_convolve(Operands inputs, const ConvParams& p, Meta* out) {
  const Tensor &x = *inputs[0], &w = *inputs[1];
  out[0].dtype = x.dtype();
  out[0].sizes = {x.sizes()[0], w.sizes()[0]};
  for (Dim size : p.sizes) out[0].sizes.push_back(size);
}
void infer_convolve_input(Operands inputs, const ConvParams& p, Meta* out) {
  const Tensor &y = *inputs[0], &w = *inputs[1];
  out[0].dtype = y.dtype();
  out[0].sizes = {y.sizes()[0], w.sizes()[1] * p.groups};
  for (Dim size : p.sizes) out[0].sizes.push_back(size);
}
void infer_convolve_weight(Operands inputs, const ConvParams& p, Meta* out) {
  const Tensor &y = *inputs[0], &x = *inputs[1];
  out[0].dtype = y.dtype();
  out[0].sizes = {y.sizes()[1], x.sizes()[1] / Dim(p.groups)};
  for (Dim size : p.sizes) out[0].sizes.push_back(size);
}

// ---- demands on graphs from outside

static Dims with_sizes(Dim first, Dim second, const Dims& sizes) {
  Dims result{first, second};
  for (Dim size : sizes) result.push_back(size);
  return result;
}

// Whether one spatial dimension of x, w and y belong together. The output padding of a transposed
// convolution leaves less than a stride or a dilation at the end of x.
static bool is_convolved(Dim x, Dim w, Dim y, Dim stride, Dim padding, Dim dilation) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  bool usable = w >= 1 && stride >= 1 && padding >= 0 && dilation >= 1 && x >= 0 && y >= 0 &&
                padding <= kMost && dilation <= kMost && stride <= 4 * kMost;
  if (!usable) return false;
  Dim room = x + padding * 2 - dilation * (w - 1) - 1;
  Dim rest = room - (y - 1) * stride;
  return y >= 1 && rest >= 0 && rest < max(stride, dilation);
}

static void require_shapes(const Dims& x, const Dims& w, const Dims& y, const ConvParams& p) {
  size_t count = p.sizes.size();
  bool usable = count >= 1 && count <= 3 && p.stride.size() == count && p.padding.size() == count &&
                p.dilation.size() == count && x.size() == count + 2 && w.size() == count + 2 &&
                y.size() == count + 2;
  usable = usable && x[0] == y[0] && x[1] == w[1] * p.groups && y[1] == w[0] &&
           w[0] % Dim(p.groups) == 0;
  for (size_t i = 0; usable && i < count; i++) {
    usable = is_convolved(x[i + 2], w[i + 2], y[i + 2], p.stride[i], p.padding[i], p.dilation[i]);
  }
  demand(usable, "convolve", "sizes, strides, paddings and dilations that belong together");
}

// Both operands have images or weights of some spatial dimensions; a bias has a value per channel.
static void require_operands(Operands inputs, const ConvParams& p) {
  const Tensor &first = *inputs[0], &second = *inputs[1];
  demand(first.dim() >= 3 && second.dim() >= 3 && p.groups >= 1, "convolve",
         "operands of 3 to 5 dimensions and groups");
  demand(first.dtype() == second.dtype() && is_real(first.dtype()), "convolve",
         "numbers of one dtype");
}
static void require_bias(Operands inputs, Dim channels) {
  const Tensor& bias = *inputs[2];
  if (!bias.defined()) return;
  demand(bias.sizes() == Dims{channels} && bias.dtype() == inputs[0]->dtype(), "convolve",
         "a bias with one value per channel");
}

void require_convolve(Operands inputs, const ConvParams& p) {
  require_operands(inputs, p);
  const Dims &x = inputs[0]->sizes(), &w = inputs[1]->sizes();
  require_shapes(x, w, with_sizes(x[0], w[0], p.sizes), p);
  require_bias(inputs, w[0]);
}
void require_convolve_input(Operands inputs, const ConvParams& p) {
  require_operands(inputs, p);
  const Dims &y = inputs[0]->sizes(), &w = inputs[1]->sizes();
  require_shapes(with_sizes(y[0], w[1] * p.groups, p.sizes), w, y, p);
  require_bias(inputs, w[1] * p.groups);
}
void require_convolve_weight(Operands inputs, const ConvParams& p) {
  require_operands(inputs, p);
  const Dims &y = inputs[0]->sizes(), &x = inputs[1]->sizes();
  require_shapes(x, with_sizes(y[1], x[1] / Dim(p.groups), p.sizes), y, p);
}

namespace {

// Runs a kernel on contiguous operands; f16 and bf16 are widened and rounded once at the end.
template <class Kernel>
void run_contiguous(Operands inputs, const Tensor& out, Kernel kernel) {
  DType dtype = is_half(out.dtype()) ? kFloat32 : out.dtype();
  Tensor result = is_half(out.dtype()) ? empty_tensor(out.sizes(), dtype) : out;
  Tensor held[3];
  const void* data[3] = {};
  for (size_t i = 0; i < inputs.size(); i++) {
    if (!inputs[i]->defined()) continue;
    held[i] = kernels::as_contiguous(*inputs[i], dtype);
    data[i] = held[i].data_ptr();
  }
  if (out.numel() > 0) kernel(dtype, data, result.data_ptr());
  if (is_half(out.dtype())) kernels::copy_elements(out, result);
}

// ---- kernels

void evaluate_forward(Operands inputs, const ConvParams& p, Tensor* out) {
  auto g = geometry(inputs[0]->sizes(), inputs[1]->sizes(), out[0].sizes(), p);
  run_contiguous(inputs, out[0], [&](DType dtype, const void* const* in, void* y) {
    kernels::convolve(dtype, g, in[0], in[1], in[2], y);
  });
}
void evaluate_input(Operands inputs, const ConvParams& p, Tensor* out) {
  auto g = geometry(out[0].sizes(), inputs[1]->sizes(), inputs[0]->sizes(), p);
  run_contiguous(inputs, out[0], [&](DType dtype, const void* const* in, void* x) {
    kernels::convolve_input(dtype, g, in[0], in[1], in[2], x);
  });
}
void evaluate_weight(Operands inputs, const ConvParams& p, Tensor* out) {
  auto g = geometry(inputs[1]->sizes(), out[0].sizes(), inputs[0]->sizes(), p);
  run_contiguous(inputs, out[0], [&](DType dtype, const void* const* in, void* w) {
    kernels::convolve_weight(dtype, g, in[0], in[1], w);
  });
}

}  // namespace

// ---- gradients

ConvParams resized(const ConvParams& p, const Dims& sizes) {
  ConvParams result = p;
  result.sizes = Dims(std::span(sizes.data() + 2, sizes.size() - 2));
  return result;
}

Tensor channel_sum(const Tensor& grad) {
  Dims all_but_channels{0};
  for (int64_t i = 2; i < grad.dim(); i++) all_but_channels.push_back(i);
  return sum(grad, all_but_channels);
}

namespace {

constexpr auto of_bias = wrt(2, saves::nothing, [](const Vjp& v) { return channel_sum(v.grad()); });

const Registered forward_p =
    plain_primitive<ConvParams, infer_convolve, evaluate_forward>("convolve", Kind::convolve, "tto")
        .requiring<require_convolve>()
        .linear_in({0, 2})
        .vjp("ConvolutionBackward0",
             wrt(0, saves::in(1) | saves::shape(0),
                 [](const Vjp& v, const ConvParams& p) {
                   return convolve_input(resized(p, v.sizes(0)), v.grad(), v.in(1), {});
                 }),
             wrt(1, saves::in(0) | saves::shape(1),
                 [](const Vjp& v, const ConvParams& p) {
                   return convolve_weight(resized(p, v.sizes(1)), v.grad(), v.in(0));
                 }),
             of_bias);
const Registered input_p =
    plain_primitive<ConvParams, infer_convolve_input, evaluate_input>("convolve_input",
                                                                      Kind::convolve, "tto")
        .requiring<require_convolve_input>()
        .linear_in({0, 2})
        .vjp("ConvolutionBackward0",
             wrt(0, saves::in(1) | saves::shape(0),
                 [](const Vjp& v, const ConvParams& p) {
                   return convolve(resized(p, v.sizes(0)), v.grad(), v.in(1), {});
                 }),
             wrt(1, saves::in(0) | saves::shape(1),
                 [](const Vjp& v, const ConvParams& p) {
                   return convolve_weight(resized(p, v.sizes(1)), v.in(0), v.grad());
                 }),
             of_bias);
const Registered weight_p =
    plain_primitive<ConvParams, infer_convolve_weight, evaluate_weight>("convolve_weight",
                                                                        Kind::convolve, "tt")
        .requiring<require_convolve_weight>()
        .linear_in({0}, {1})
        .vjp("ConvolutionBackwardBackward0",
             wrt(0, saves::in(1) | saves::shape(0),
                 [](const Vjp& v, const ConvParams& p) {
                   return convolve(resized(p, v.sizes(0)), v.in(1), v.grad(), {});
                 }),
             wrt(1, saves::in(0) | saves::shape(1), [](const Vjp& v, const ConvParams& p) {
               return convolve_input(resized(p, v.sizes(1)), v.in(0), v.grad(), {});
             }));

}  // namespace

Tensor convolve(const ConvParams& params, const Tensor& x, const Tensor& w, const Tensor& bias) {
  return forward_p.with(params, x, w, bias);
}
Tensor convolve_input(const ConvParams& params, const Tensor& y, const Tensor& w,
                      const Tensor& bias) {
  return input_p.with(params, y, w, bias);
}
Tensor convolve_weight(const ConvParams& params, const Tensor& y, const Tensor& x) {
  return weight_p.with(params, y, x);
}

}  // namespace fg::ops

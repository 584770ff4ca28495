// The three primitives of the convolve kind. Each is linear in both operands, and the gradients of
// each are the other two, so any derivative closes over them.
#pragma once

#include "ir/primitive.h"
#include "ops/convolution/im2col.h"

namespace fg::ops {

struct ConvParams {
  Dims stride, padding, dilation;  // one entry per spatial dimension
  int64_t groups;
  Dims sizes;  // spatial sizes of the result: those of the operands do not always say
  bool operator==(const ConvParams&) const = default;
};

// x [batch, channels, spatial], w [out_channels, channels / groups, kernel] -> y.
// A bias, one value per channel of the result, may be undefined.
Tensor convolve(const ConvParams& params, const Tensor& x, const Tensor& w, const Tensor& bias);
// y, w -> x: the gradient of the input, which is the transposed convolution.
Tensor convolve_input(const ConvParams& params, const Tensor& y, const Tensor& w,
                      const Tensor& bias);
// y, x -> w: the gradient of the weight.
Tensor convolve_weight(const ConvParams& params, const Tensor& y, const Tensor& x);

// The shape rules, and what kernels want to know.
void infer_convolve(ir::Operands inputs, const ConvParams& p, ir::Meta* out);
void infer_convolve_input(ir::Operands inputs, const ConvParams& p, ir::Meta* out);
void infer_convolve_weight(ir::Operands inputs, const ConvParams& p, ir::Meta* out);
// Demands of graphs that come as text; the functions meet them.
void require_convolve(ir::Operands inputs, const ConvParams& p);
void require_convolve_input(ir::Operands inputs, const ConvParams& p);
void require_convolve_weight(ir::Operands inputs, const ConvParams& p);
// The same convolution with a result of these sizes, and the gradient of a bias: for rules.
ConvParams resized(const ConvParams& p, const Dims& sizes);
Tensor channel_sum(const Tensor& grad);
kernels::ConvGeometry geometry(const Dims& x, const Dims& w, const Dims& y, const ConvParams& p);

}  // namespace fg::ops

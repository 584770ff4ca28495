// The three convolutions on contiguous memory: forward, gradient of the input, gradient of the
// weight. x is [batch, groups * in_channels, input], w is [groups * out_channels, in_channels,
// kernel], y is [batch, groups * out_channels, output]. The bits do not depend on the number of
// threads. Every dtype but bool, f16 and bf16 (callers widen those, so that they round once).
#pragma once

#include "ops/convolution/im2col.h"
#include "tensor/dtype.h"

namespace fg::kernels {

// y = conv(x, w) + bias; bias may be null.
void convolve(DType dtype, const ConvGeometry& g, const void* x, const void* w, const void* bias,
              void* y);
// x = the transposed convolution of y with w, plus bias (one value per channel of x) if not null.
void convolve_input(DType dtype, const ConvGeometry& g, const void* y, const void* w,
                    const void* bias, void* x);
// w = sum over the batch of y correlated with x.
void convolve_weight(DType dtype, const ConvGeometry& g, const void* y, const void* x, void* w);

}  // namespace fg::kernels

// Softmax and log_softmax along one dimension, and their gradients, in one pass over memory.
#pragma once

#include "tensor/tensor.h"

namespace fg::kernels {

enum class SoftmaxKind : uint8_t { softmax, log_softmax, softmax_gradient, log_softmax_gradient };

// `first` is the input, or the gradient of the output with `second` the output. All have one shape
// and a floating dtype; `out` is contiguous.
void softmax(SoftmaxKind kind, const Tensor& first, const Tensor& second, int64_t axis,
             const Tensor& out);

}  // namespace fg::kernels

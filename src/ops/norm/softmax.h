// Softmax and log_softmax along a dimension.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"softmax(Tensor self, int dim, DType? dtype=None) -> Tensor"> softmax;
inline constexpr ir::Function<"log_softmax(Tensor self, int dim, DType? dtype=None) -> Tensor">
    log_softmax;

// The gradients, from the gradient of the output and the output.
inline constexpr ir::Function<
    "softmax_backward(Tensor grad_output, Tensor output, int dim) -> Tensor">
    softmax_backward;
inline constexpr ir::Function<
    "log_softmax_backward(Tensor grad_output, Tensor output, int dim) -> Tensor">
    log_softmax_backward;

}  // namespace fg

// Softmax and log_softmax along a dimension.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"softmax(Tensor self, int dim, DType? dtype=None) -> Tensor"> softmax;
FG_FUNCTION ir::Function<"log_softmax(Tensor self, int dim, DType? dtype=None) -> Tensor">
    log_softmax;

// The gradients, from the gradient of the output and the output.
FG_FUNCTION ir::Function<"softmax_backward(Tensor grad_output, Tensor output, int dim) -> Tensor">
    softmax_backward;
FG_FUNCTION
ir::Function<"log_softmax_backward(Tensor grad_output, Tensor output, int dim) -> Tensor">
    log_softmax_backward;

}  // namespace fg

// Undoing broadcasting: sums a gradient to the shape of the operand that was broadcast.
#pragma once

#include "tensor/tensor.h"

namespace fg::autograd {

Tensor sum_to_size(const Tensor& grad, const Dims& sizes);

}  // namespace fg::autograd

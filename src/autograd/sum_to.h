// Undoing broadcasting: a gradient summed to the shape of what was broadcast.
#pragma once

#include "tensor/tensor.h"

namespace fg::autograd {

Tensor sum_to_size(const Tensor& grad, const Dims& sizes);

}  // namespace fg::autograd

// Common parts of losses: their `reduction` argument, and weights without gradient.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace fg::ops {

// Refuses anything but 'none', 'mean' and 'sum'.
void check_reduction(const char* who, const std::string& reduction);
// The losses of the elements, their mean or their sum.
Tensor reduced(const Tensor& losses, const std::string& reduction);
// The gradient that each of the losses of these sizes gets; it broadcasts to them.
Tensor spread(const Tensor& grad, const std::string& reduction, const Dims& sizes);
// The rule of an argument that PyTorch gives no gradient either: an error, never a silent zero.
Tensor not_differentiable(const char* who, const char* argument);

}  // namespace fg::ops

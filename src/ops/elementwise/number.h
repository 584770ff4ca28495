// Numbers that may be symbols: arguments of a function that is being captured. Computations on
// symbols are recorded; those on known numbers are done at once.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace fg::ops {

Scalar negative(const Scalar& number);
Scalar one_minus(const Scalar& number);
// The number itself; one that the dtype cannot hold is refused, now or when it is known.
Scalar fitting(const Scalar& number, DType dtype, const char* who);

// Python's arithmetic on floats, bit for bit and error for error: add, sub, mul, div, pow; neg and
// abs, which take one. Tensors without dimensions stand for the floats.
Tensor float_operation(std::string_view name, const Tensor& a, const Tensor* b);

}  // namespace fg::ops

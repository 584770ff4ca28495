// Checks and shapes that functions of matrices share.
#pragma once

#include "ir/operand.h"
#include "tensor/tensor.h"

namespace fg::ops {

// Refuses what is not a batch of square matrices of float32 or float64.
void check_square(const char* who, const Tensor& self, const char* argument);
void check_real(const char* who, const Tensor& self);
// The sizes before the last two.
Dims batch_of(const Tensor& matrices);
// `batch` with the last two sizes of a tensor behind.
Dims with_matrix(const Dims& batch, const Tensor& matrices);

// The triangle that remains of a gradient.
Tensor triangle(const Tensor& grad, bool upper, bool strict = false);

}  // namespace fg::ops

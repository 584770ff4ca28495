// Normalisation of contiguous rows to mean 0 and variance 1, and its gradient, one row at a time.
#pragma once

#include "tensor/tensor.h"

namespace fg::kernels {

// Tensors are contiguous; x, y, grad and the two gradients have `rows` rows of n elements and one
// floating dtype; all others have the accumulation dtype of that: mean and rstd one element per
// row, weight and bias (which may be absent) n elements.
struct NormForward {
  const Tensor &x, &weight, &bias, &y, &mean, &rstd;
  int64_t rows, n;
  double eps;
};
void normalize_rows(const NormForward& task);

// dx is the gradient of x; scaled is grad * (x - mean) * rstd, whose sum is the weight's gradient.
struct NormBackward {
  const Tensor &grad, &x, &weight, &mean, &rstd, &dx, &scaled;
  int64_t rows, n;
};
void normalize_rows_backward(const NormBackward& task);

}  // namespace fg::kernels

// Kernels over contiguous batches of small row-major matrices, in float and double. Elements are
// combined in one order, so results depend neither on threads nor on how a batch is split.
#pragma once

#include "tensor/tensor.h"

namespace fg::kernels {

// out = the lower factor of each symmetric matrix, of which the lower triangle is read; zeros
// above. info (int32, one per matrix) is 0, or the order of the minor that is not positive.
void factor_cholesky(const Tensor& matrices, const Tensor& out, const Tensor& info);

// Replaces the right sides by the solutions of A X = B; A is read in one triangle only.
void solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool unit);

// Eigenvalues, ascending, and vectors as columns, by Jacobi's rotations; the lower triangle is
// read.
void decompose_symmetric(const Tensor& matrices, const Tensor& values, const Tensor& vectors);

}  // namespace fg::kernels

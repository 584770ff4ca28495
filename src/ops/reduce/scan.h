// Scans: out[k] combines the elements 0 ... k along a dimension.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"cumsum(Tensor self, int dim, *, DType? dtype=None) -> Tensor"> cumsum;
FG_FUNCTION ir::Function<"cumprod(Tensor self, int dim, *, DType? dtype=None) -> Tensor"> cumprod;
FG_FUNCTION ir::InplaceOf<decltype(cumsum)> cumsum_;
FG_FUNCTION ir::InplaceOf<decltype(cumprod)> cumprod_;

// s[k] = b[k] + a[k] * s[k - 1] along dim, or with k + 1 when reverse: the gradient of products.
FG_FUNCTION
ir::Function<"linear_recurrence(Tensor a, Tensor b, int dim, bool reverse=False) -> Tensor">
    linear_recurrence;

}  // namespace fg

namespace fg::ops {

// The gradient of a product over some dimensions, or all, with respect to each factor, which may be
// zero.
Tensor prod_gradient(const Tensor& grad, const Tensor& self, const OptDims& dim, bool keepdim);

}  // namespace fg::ops

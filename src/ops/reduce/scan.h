// Scans: every element combined with all those before it along a dimension.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"cumsum(Tensor self, int dim, *, DType? dtype=None) -> Tensor">
    cumsum;
inline constexpr ir::Function<"cumprod(Tensor self, int dim, *, DType? dtype=None) -> Tensor">
    cumprod;
inline constexpr ir::Inplace cumsum_{cumsum};
inline constexpr ir::Inplace cumprod_{cumprod};

// s[k] = b[k] + a[k] * s[k - 1] along dim, or with k + 1 when reverse: the gradient of products.
inline constexpr ir::Function<
    "linear_recurrence(Tensor a, Tensor b, int dim, bool reverse=False) -> Tensor">
    linear_recurrence;

}  // namespace fg

namespace fg::ops {

// The gradient of a product over some dimensions, or all, with respect to each factor; zeros among
// them are no problem.
Tensor prod_gradient(const Tensor& grad, const Tensor& self, const OptDims& dim, bool keepdim);

}  // namespace fg::ops

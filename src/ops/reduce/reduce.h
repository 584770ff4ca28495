// Reductions over dimensions: sums, products, means, logical ones.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<
    "sum(Tensor self, *, DType? dtype=None) -> Tensor",
    "sum.dim_IntList(Tensor self, int[]? dim, bool keepdim=False, *, DType? dtype=None) -> Tensor">
    sum;
inline constexpr ir::Function<
    "mean(Tensor self, *, DType? dtype=None) -> Tensor",
    "mean.dim(Tensor self, int[]? dim, bool keepdim=False, *, DType? dtype=None) -> Tensor">
    mean;
inline constexpr ir::Function<
    "prod(Tensor self, *, DType? dtype=None) -> Tensor",
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, DType? dtype=None) -> Tensor">
    prod;
inline constexpr ir::Function<"logsumexp(Tensor self, int[] dim, bool keepdim=False) -> Tensor">
    logsumexp;
inline constexpr ir::Function<"count_nonzero(Tensor self, int[]? dim=None) -> Tensor">
    count_nonzero;

inline constexpr ir::Function<"any(Tensor self) -> Tensor",
                              "any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
                              "any.dims(Tensor self, int[]? dim, bool keepdim=False) -> Tensor">
    any;
inline constexpr ir::Function<"all(Tensor self) -> Tensor",
                              "all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
                              "all.dims(Tensor self, int[]? dim, bool keepdim=False) -> Tensor">
    all;

}  // namespace fg

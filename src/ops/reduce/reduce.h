// Reductions over dimensions: sums, products, means, logical ones.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<
    "sum(Tensor self, *, DType? dtype=None) -> Tensor",
    "sum.dim_IntList(Tensor self, int[]? dim, bool keepdim=False, *, DType? dtype=None) -> Tensor">
    sum;
FG_FUNCTION ir::Function<
    "mean(Tensor self, *, DType? dtype=None) -> Tensor",
    "mean.dim(Tensor self, int[]? dim, bool keepdim=False, *, DType? dtype=None) -> Tensor">
    mean;
FG_FUNCTION ir::Function<
    "prod(Tensor self, *, DType? dtype=None) -> Tensor",
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, DType? dtype=None) -> Tensor">
    prod;
FG_FUNCTION ir::Function<"logsumexp(Tensor self, int[] dim, bool keepdim=False) -> Tensor">
    logsumexp;
FG_FUNCTION ir::Function<"count_nonzero(Tensor self, int[]? dim=None) -> Tensor"> count_nonzero;

FG_FUNCTION ir::Function<"any(Tensor self) -> Tensor",
                         "any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
                         "any.dims(Tensor self, int[]? dim, bool keepdim=False) -> Tensor">
    any;
FG_FUNCTION ir::Function<"all(Tensor self) -> Tensor",
                         "all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
                         "all.dims(Tensor self, int[]? dim, bool keepdim=False) -> Tensor">
    all;

}  // namespace fg

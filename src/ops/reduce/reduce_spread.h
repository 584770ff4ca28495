// Measures of spread and size: variance, standard deviation, norms.
#pragma once

#include "ir/function.h"

namespace fg {

// Beside a flag, which is `unbiased`, one number is a dimension.
template <Text... S>
struct SpreadFunction : ir::Function<S...> {
  using ir::Function<S...>::operator();
  auto operator()(const Tensor& self, int dim) const { return (*this)(self, OptDims(dim)); }
  auto operator()(const Tensor& self, int64_t dim) const { return (*this)(self, OptDims(dim)); }
};

// `correction` is subtracted from the number of elements, 1 if absent; `unbiased` is 1 or 0.
FG_FUNCTION SpreadFunction<
    "var.correction(Tensor self, int[]? dim=None, *, Scalar? correction=None, bool keepdim=False) "
    "-> Tensor",
    "var.dim(Tensor self, int[]? dim, bool unbiased, bool keepdim=False) -> Tensor",
    "var(Tensor self, bool unbiased) -> Tensor">
    var;
FG_FUNCTION SpreadFunction<
    "std.correction(Tensor self, int[]? dim=None, *, Scalar? correction=None, bool keepdim=False) "
    "-> Tensor",
    "std.dim(Tensor self, int[]? dim, bool unbiased, bool keepdim=False) -> Tensor",
    "std(Tensor self, bool unbiased) -> Tensor">
    std;
FG_FUNCTION SpreadFunction<
    "var_mean.correction(Tensor self, int[]? dim=None, *, Scalar? correction=None, "
    "bool keepdim=False) -> (Tensor, Tensor)",
    "var_mean.dim(Tensor self, int[]? dim, bool unbiased, bool keepdim=False) -> (Tensor, Tensor)",
    "var_mean(Tensor self, bool unbiased) -> (Tensor, Tensor)">
    var_mean;
FG_FUNCTION SpreadFunction<
    "std_mean.correction(Tensor self, int[]? dim=None, *, Scalar? correction=None, "
    "bool keepdim=False) -> (Tensor, Tensor)",
    "std_mean.dim(Tensor self, int[]? dim, bool unbiased, bool keepdim=False) -> (Tensor, Tensor)",
    "std_mean(Tensor self, bool unbiased) -> (Tensor, Tensor)">
    std_mean;

FG_FUNCTION ir::Function<
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[]? dim=None, bool keepdim=False, *, "
    "DType? dtype=None) -> Tensor">
    linalg_vector_norm;
FG_FUNCTION ir::Function<
    "norm(Tensor self, Scalar? p=2, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) "
    "-> Tensor">
    norm;

}  // namespace fg

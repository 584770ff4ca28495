// Measures of spread and size: variance, standard deviation, norms.
#pragma once

#include "ir/function.h"

namespace fg {

// `correction` is what is taken off the number of elements, 1 if absent; `unbiased` is 1 or 0.
inline constexpr ir::Function<
    "var.correction(Tensor self, int[]? dim=None, *, Scalar? correction=None, bool keepdim=False) "
    "-> Tensor",
    "var.dim(Tensor self, int[]? dim, bool unbiased, bool keepdim=False) -> Tensor">
    var;
inline constexpr ir::Function<
    "std.correction(Tensor self, int[]? dim=None, *, Scalar? correction=None, bool keepdim=False) "
    "-> Tensor",
    "std.dim(Tensor self, int[]? dim, bool unbiased, bool keepdim=False) -> Tensor">
    std;
inline constexpr ir::Function<
    "var_mean.correction(Tensor self, int[]? dim=None, *, Scalar? correction=None, "
    "bool keepdim=False) -> (Tensor, Tensor)">
    var_mean;
inline constexpr ir::Function<
    "std_mean.correction(Tensor self, int[]? dim=None, *, Scalar? correction=None, "
    "bool keepdim=False) -> (Tensor, Tensor)">
    std_mean;

inline constexpr ir::Function<
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[]? dim=None, bool keepdim=False, *, "
    "DType? dtype=None) -> Tensor">
    linalg_vector_norm;
inline constexpr ir::Function<
    "norm(Tensor self, Scalar? p=2, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) "
    "-> Tensor">
    norm;

}  // namespace fg

// Making tensors. Without a dtype, numbers decide: floats give the default float dtype.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"empty(int[] size, *, DType? dtype=None) -> Tensor"> empty;
FG_FUNCTION ir::Function<"empty_strided(int[] size, int[] stride, *, DType? dtype=None) -> Tensor">
    empty_strided;
FG_FUNCTION ir::Function<"full(int[] size, Scalar fill_value, *, DType? dtype=None) -> Tensor">
    full;
FG_FUNCTION ir::Function<"zeros(int[] size, *, DType? dtype=None) -> Tensor"> zeros;
FG_FUNCTION ir::Function<"ones(int[] size, *, DType? dtype=None) -> Tensor"> ones;

// ---- with the sizes, dtype and order of dimensions of another tensor
FG_FUNCTION ir::Function<"empty_like(Tensor self, *, DType? dtype=None) -> Tensor"> empty_like;
FG_FUNCTION ir::Function<"zeros_like(Tensor self, *, DType? dtype=None) -> Tensor"> zeros_like;
FG_FUNCTION ir::Function<"ones_like(Tensor self, *, DType? dtype=None) -> Tensor"> ones_like;
FG_FUNCTION
ir::Function<"full_like(Tensor self, Scalar fill_value, *, DType? dtype=None) -> Tensor"> full_like;

// ---- with the dtype of another tensor
FG_FUNCTION ir::Function<"new_empty(Tensor self, int[] size, *, DType? dtype=None) -> Tensor">
    new_empty;
FG_FUNCTION ir::Function<"new_zeros(Tensor self, int[] size, *, DType? dtype=None) -> Tensor">
    new_zeros;
FG_FUNCTION ir::Function<"new_ones(Tensor self, int[] size, *, DType? dtype=None) -> Tensor">
    new_ones;
FG_FUNCTION ir::Function<
    "new_full(Tensor self, int[] size, Scalar fill_value, *, DType? dtype=None) -> Tensor">
    new_full;

// ---- sequences
FG_FUNCTION ir::Function<
    "arange(Scalar end, *, DType? dtype=None) -> Tensor",
    "arange.start(Scalar start, Scalar end, *, DType? dtype=None) -> Tensor",
    "arange.start_step(Scalar start, Scalar end, Scalar step, *, DType? dtype=None) -> Tensor">
    arange;
FG_FUNCTION
ir::Function<"linspace(Scalar start, Scalar end, Dim steps, *, DType? dtype=None) -> Tensor">
    linspace;
FG_FUNCTION ir::Function<
    "logspace(Scalar start, Scalar end, Dim steps, float base=10.0, *, DType? dtype=None) -> "
    "Tensor">
    logspace;
FG_FUNCTION ir::Function<"eye(Dim n, *, DType? dtype=None) -> Tensor",
                         "eye.m(Dim n, Dim m, *, DType? dtype=None) -> Tensor">
    eye;

namespace ops {

// The strides of a copy of `self` that keeps the order of its dimensions in memory; empty when it
// is contiguous or abstract.
Dims preserved_strides(const Tensor& self);
// Refuses a number that the dtype cannot hold.
void check_fits(const Scalar& value, DType dtype, const char* who);

}  // namespace ops
}  // namespace fg

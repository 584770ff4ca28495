// Making tensors.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"full(int[] size, Scalar fill_value, *, DType? dtype=None) -> Tensor">
    full;
inline constexpr ir::Function<"zeros(int[] size, *, DType? dtype=None) -> Tensor"> zeros;
inline constexpr ir::Function<"ones(int[] size, *, DType? dtype=None) -> Tensor"> ones;
inline constexpr ir::Function<"zeros_like(Tensor self, *, DType? dtype=None) -> Tensor"> zeros_like;
inline constexpr ir::Function<"ones_like(Tensor self, *, DType? dtype=None) -> Tensor"> ones_like;
inline constexpr ir::Function<
    "full_like(Tensor self, Scalar fill_value, *, DType? dtype=None) -> Tensor">
    full_like;

}  // namespace fg

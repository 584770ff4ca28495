// Reductions by order: largest and smallest elements and their places. NaN counts as largest and
// as smallest.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"amax(Tensor self, int[] dim=[], bool keepdim=False) -> Tensor"> amax;
inline constexpr ir::Function<"amin(Tensor self, int[] dim=[], bool keepdim=False) -> Tensor"> amin;
// Dim has functions max and min in fg; an inline namespace keeps these names apart from them.
inline namespace functions {
inline constexpr ir::Function<
    "max(Tensor self) -> Tensor",
    "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    "max.other(Tensor self, Tensor other) -> Tensor">
    max;
inline constexpr ir::Function<
    "min(Tensor self) -> Tensor",
    "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    "min.other(Tensor self, Tensor other) -> Tensor">
    min;
}  // namespace functions
inline constexpr ir::Function<"argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor">
    argmax;
inline constexpr ir::Function<"argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor">
    argmin;

}  // namespace fg

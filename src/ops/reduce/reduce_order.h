// Reductions by order: largest and smallest elements and their places. NaN counts as largest and
// as smallest.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"amax(Tensor self, int[] dim=[], bool keepdim=False) -> Tensor"> amax;
FG_FUNCTION ir::Function<"amin(Tensor self, int[] dim=[], bool keepdim=False) -> Tensor"> amin;
// Dim has functions max and min in fg; an inline namespace keeps these names apart from them.
inline namespace functions {
FG_FUNCTION ir::Function<
    "max(Tensor self) -> Tensor",
    "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    "max.other(Tensor self, Tensor other) -> Tensor">
    max;
FG_FUNCTION ir::Function<
    "min(Tensor self) -> Tensor",
    "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    "min.other(Tensor self, Tensor other) -> Tensor">
    min;
}  // namespace functions
FG_FUNCTION ir::Function<"argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"> argmax;
FG_FUNCTION ir::Function<"argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"> argmin;

}  // namespace fg

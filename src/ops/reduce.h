// Reductions over dimensions.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<
    "sum(Tensor self, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) -> Tensor">
    sum;

}  // namespace fg

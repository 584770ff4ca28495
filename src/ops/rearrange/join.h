// Joining tensors.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"cat(Tensor[] tensors, int dim=0) -> Tensor"> cat;
inline constexpr ir::Function<"stack(Tensor[] tensors, int dim=0) -> Tensor"> stack;
inline constexpr ir::Function<"hstack(Tensor[] tensors) -> Tensor"> hstack;
inline constexpr ir::Function<"vstack(Tensor[] tensors) -> Tensor"> vstack;

}  // namespace fg

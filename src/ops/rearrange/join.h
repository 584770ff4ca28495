// Joining tensors.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"cat(Tensor[] tensors, int dim=0) -> Tensor"> cat;
FG_FUNCTION ir::Function<"stack(Tensor[] tensors, int dim=0) -> Tensor"> stack;
FG_FUNCTION ir::Function<"hstack(Tensor[] tensors) -> Tensor"> hstack;
FG_FUNCTION ir::Function<"vstack(Tensor[] tensors) -> Tensor"> vstack;

}  // namespace fg

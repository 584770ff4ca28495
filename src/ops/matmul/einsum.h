// Sums of products by Einstein's convention.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"einsum(str equation, Tensor[] tensors) -> Tensor"> einsum;

}  // namespace fg

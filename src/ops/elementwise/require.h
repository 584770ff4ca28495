// Checks of values that a captured function makes when it runs.
#pragma once

#include "ir/function.h"

namespace fg {

// Self itself; an error with this message where an element of self is false.
FG_FUNCTION ir::Function<"_require_true(Tensor self, str message) -> Tensor"> _require_true;

}  // namespace fg

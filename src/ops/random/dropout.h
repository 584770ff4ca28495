// Dropout: elements become zero at random, the others grow so that the mean stays.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"dropout(Tensor input, float p=0.5, bool train=True) -> Tensor"> dropout;
// As dropout, but whole channels: the elements of one [n, c] stay or vanish together.
FG_FUNCTION ir::Function<"feature_dropout(Tensor input, float p=0.5, bool train=True) -> Tensor">
    feature_dropout;

}  // namespace fg

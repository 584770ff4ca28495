// What sizes and strides say about the memory that they reach.
#pragma once

#include "tensor/dims.h"

namespace fg {

// Elements from the first to the last; 0 without any.
Dim reach(const Dims& sizes, const Dims& strides);
// Some element is reached through more than one index, e.g. in an expanded tensor.
bool overlaps_itself(const Dims& sizes, const Dims& strides);

}  // namespace fg

// The memory that sizes and strides reach.
#pragma once

#include "tensor/dims.h"

namespace fg {

// Elements from the first to the last; 0 without any. Strides are 0 or more; a reach of more than
// 63 bits counts as the largest number, which no memory has.
Dim reach(const Dims& sizes, const Dims& strides);
// Refuses more dimensions than recursive code over them can stand.
[[noreturn]] void refuse_rank(const Dims& sizes);
inline void check_rank(const Dims& sizes) {
  if (sizes.size() > 1024) [[unlikely]]
    refuse_rank(sizes);
}
// Whether some element is reached through more than one index, as in an expanded tensor.
bool overlaps_itself(const Dims& sizes, const Dims& strides);

}  // namespace fg

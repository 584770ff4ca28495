// Sizes from which on values are computed again rather than kept; see passes.h.
#pragma once

#include <cstdint>

namespace fg::passes {

struct AgainLimits {
  int64_t least_bytes;  // of a value
  int64_t least_part;   // of the peak: less than one part of so many is not worth it
};
// Tests set others, so that even tiny values are computed again.
extern AgainLimits again_limits;

}  // namespace fg::passes

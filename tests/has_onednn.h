// Whether oneDNN computes convolutions here.
#pragma once

#include "base/level.h"

namespace fg {

// FOREGRAD_ONEDNN: whether it was built; a file that includes this gets it in tests/CMakeLists.txt.
inline const bool kHasOneDnn = FOREGRAD_ONEDNN && level() >= Level::v3;

}  // namespace fg

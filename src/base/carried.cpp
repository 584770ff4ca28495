#include "base/carried.h"

namespace fg {

constinit std::atomic<CarriedWork (*)()> carry_context = nullptr;

}  // namespace fg

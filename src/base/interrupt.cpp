#include "base/interrupt.h"

namespace fg {

constinit std::atomic<void (*)()> interrupt_check = nullptr;

}  // namespace fg

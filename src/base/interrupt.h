// Interrupts: long native work asks from time to time whether it should stop. A language binding
// says so by throwing from its check (Ctrl-C in Python).
#pragma once

#include <atomic>

namespace fg {

extern std::atomic<void (*)()> interrupt_check;  // null: no interrupts

inline void poll_interrupt() {
  if (auto check = interrupt_check.load(std::memory_order_relaxed)) check();
}

}  // namespace fg

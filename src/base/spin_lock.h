// A lock for a few instructions: one byte. Who waits gives the core away.
#pragma once

#include <sched.h>

#include <atomic>

namespace fg {

class SpinLock {
 public:
  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> locked_{false};
};

}  // namespace fg

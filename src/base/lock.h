// Locks of a few bytes, for objects that exist by the million.
#pragma once

#include <sched.h>

#include <atomic>

namespace fg {

// SpinLock guards a few instructions at the cost of one atomic operation; waiting threads yield.
class SpinLock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

// Lock guards longer sections: waiting threads sleep.
class Lock {
 public:
  void lock() {
    uint32_t state = kFree;
    if (state_.compare_exchange_strong(state, kTaken, std::memory_order_acquire)) return;
    while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) state_.wait(kAwaited);
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) state_.notify_one();
  }

 private:
  enum : uint32_t { kFree, kTaken, kAwaited };
  std::atomic<uint32_t> state_{kFree};
};

template <class L>
class Locked {
 public:
  explicit Locked(L& lock) : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  L& lock_;
};

}  // namespace fg

// Carried: what a thread that works for another one takes over from it beyond what this library
// knows. A language binding says what that is (the context variables of Python).
#pragma once

#include <atomic>

#include "base/callback.h"

namespace fg {

using CarriedWork = Callback<void(const Callback<void()>& work)>;

// Called on the thread that waits; what it returns calls the work on the new one. Null: nothing is
// carried along.
extern std::atomic<CarriedWork (*)()> carry_context;

inline CarriedWork carried() {
  if (auto carry = carry_context.load(std::memory_order_relaxed)) return carry();
  return [](const Callback<void()>& work) { work(); };
}

}  // namespace fg

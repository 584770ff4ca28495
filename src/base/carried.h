// Carried: thread-local state, unknown to this library, that a worker thread takes over from the
// thread that it works for. A language binding defines it (the context variables of Python).
#pragma once

#include <atomic>

#include "base/callback.h"

namespace fg {

using CarriedWork = Callback<void(const Callback<void()>& work)>;

// Called on the thread that waits; its result calls the work on the new thread. Null: no state is
// carried along.
extern std::atomic<CarriedWork (*)()> carry_context;

inline CarriedWork carried() {
  if (auto carry = carry_context.load(std::memory_order_relaxed)) return carry();
  return [](const Callback<void()>& work) { work(); };
}

}  // namespace fg

// The thread pool: splits index ranges over threads. Results must not depend on how a range was
// split. A call from inside a body runs inline; a forked child gets a fresh pool.
#pragma once

#include <cstdint>
#include <type_traits>

namespace fg::pool {

int num_threads();
void set_num_threads(int count);

// Tests set a grain of 1 so that even tiny work really splits. 0 restores each caller's grain.
void force_grain(int64_t grain);

// A borrowed callable, valid during the call only.
class Body {
 public:
  template <class F>
  Body(const F& f)  // NOLINT: implicit on purpose
      : object_(&f), call_([](const void* object, int64_t begin, int64_t end) {
          (*static_cast<const F*>(object))(begin, end);
        }) {}
  void operator()(int64_t begin, int64_t end) const { call_(object_, begin, end); }

 private:
  const void* object_;
  void (*call_)(const void*, int64_t, int64_t);
};

// Runs body over [0, count) in ranges of at least `grain` indices; ranges of at most one grain, or
// one thread, run on the caller without touching the pool. An exception of a body is rethrown here.
void parallel_for_threads(int64_t count, int64_t grain, Body body);
extern int64_t forced_grain;

template <class F>
void parallel_for(int64_t count, int64_t grain, const F& body) {
  if (count <= grain && forced_grain == 0) {
    if (count > 0) body(int64_t{0}, count);
    return;
  }
  parallel_for_threads(count, grain, Body(body));
}

}  // namespace fg::pool

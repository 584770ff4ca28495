#include "compile/counters.h"

#include <atomic>
#include <mutex>

namespace fg::compiler {

static std::mutex mutex;
static std::atomic<int64_t> calls = 0;  // counted by every call, which shall not wait
static Counters& totals() {
  static Counters counters;
  return counters;
}

Counters counters() {
  std::scoped_lock lock(mutex);
  Counters result = totals();
  result.calls = calls;
  return result;
}
void reset_counters() {
  std::scoped_lock lock(mutex);
  totals() = {};
  calls = 0;
}
void count_capture() {
  std::scoped_lock lock(mutex);
  totals().captured++;
}
void count_seconds(double seconds) {
  std::scoped_lock lock(mutex);
  totals().seconds += seconds;
}
void count_call() { calls.fetch_add(1, std::memory_order_relaxed); }
bool count_eager(const std::string& reason) {
  std::scoped_lock lock(mutex);
  totals().eager++;
  return totals().reasons[reason]++ == 0;
}
bool count_interpreted(const std::string& reason) {
  std::scoped_lock lock(mutex);
  totals().interpreted++;
  return totals().reasons[reason]++ == 0;
}

}  // namespace fg::compiler

#include "compile/counters.h"

#include <mutex>

namespace fg::compiler {

static std::mutex mutex;
static Counters& totals() {
  static Counters counters;
  return counters;
}

Counters counters() {
  std::scoped_lock lock(mutex);
  return totals();
}
void reset_counters() {
  std::scoped_lock lock(mutex);
  totals() = {};
}
void count_capture() {
  std::scoped_lock lock(mutex);
  totals().captured++;
}
void count_call() {
  std::scoped_lock lock(mutex);
  totals().calls++;
}
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

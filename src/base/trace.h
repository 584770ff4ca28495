// Where the time goes: with FOREGRAD_TRACE=file every phase of capturing and compiling, and every
// step of compiled code, is written to that file when the program ends, as Chrome's trace viewer
// and Perfetto read it. Without the setting a span costs one load and one branch.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace fg::trace {

enum class State : uint8_t { unread, off, on };
extern std::atomic<State> state;
bool read_state();

inline bool enabled() {
  State now = state.load(std::memory_order_relaxed);
  return now == State::unread ? read_state() : now == State::on;
}

// From its construction to its end. `category` and `name` must outlive the program or the span:
// names are copied, categories are not.
class Span {
 public:
  Span(const char* category, std::string_view name) {
    if (enabled()) [[unlikely]]
      begin(category, name);
  }
  ~Span() {
    if (category_) [[unlikely]]
      end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  void begin(const char* category, std::string_view name);
  void end();

  const char* category_ = nullptr;
  std::string_view name_;
  int64_t begin_ = 0;  // nanoseconds
};

}  // namespace fg::trace

// Timing: with FOREGRAD_TRACE=file every phase of capturing and compiling, every call and each step
// of compiled code is written to that file when the program ends, as Chrome's trace viewer and
// Perfetto read it. A Collector gets the same for one thread. Without either a span costs one load
// and one branch.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fg::timing {

enum class State : uint8_t { unread, off, on };
extern std::atomic<State> state;
bool read_state();
// Adds to the number of those that want every span; hot code is measured while there is one.
bool watch_spans(int more);
int64_t now();  // nanoseconds of a clock that never goes back

inline bool enabled() {
  State now = state.load(std::memory_order_relaxed);
  return now == State::unread ? read_state() : now == State::on;
}

// Measures from its construction to its end. `category` must outlive the program, `name` the span:
// names are copied, categories are not.
class Span {
 public:
  Span(const char* category, std::string_view name) {
    if (enabled()) [[unlikely]]
      begin(category, name);
  }
  ~Span() {
    if (category_) [[unlikely]]
      end({});
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 protected:
  Span() = default;
  void begin(const char* category, std::string_view name);
  void end(std::string note);

 private:
  const char* category_ = nullptr;
  std::string_view name_;
  int64_t begin_ = 0;  // nanoseconds
};

// A phase of capturing or compiling. These are few and take long: they are always measured, so that
// compilations can be explained later.
class Phase : public Span {
 public:
  explicit Phase(std::string_view name) { begin("phase", name); }
  ~Phase() { end(std::move(note_)); }
  void note(std::string text) { note_ = std::move(text); }  // for people: the outcome

 private:
  std::string note_{};
};

// The measurement of a span.
struct Time {
  const char* category = "";
  std::string name{}, note{};
  int64_t begin = 0, end = 0;  // nanoseconds; of a collector's: since it began
  int depth = 0;               // of spans around it

  double seconds() const { return 1e-9 * static_cast<double>(end - begin); }
};

// Gets the spans that end on this thread while it lives; the innermost of nested collectors does.
class Collector {
 public:
  enum class Of : uint8_t { phases, everything };
  explicit Collector(Of what = Of::phases);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  std::vector<Time> take();  // in the order in which they began

 private:
  friend class Span;
  Of what_;
  int64_t begin_;
  Collector* outer_;
  std::vector<Time> times_;
};

}  // namespace fg::timing

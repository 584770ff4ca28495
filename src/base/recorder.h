// Recording for a profiler: from start to stop every span, every phase and every call of a
// function, a primitive or a node of the graph is kept, of all threads. A call costs one load and
// one branch while nothing is recorded.
#pragma once

#include <memory>

#include "base/trace.h"

namespace fg::timing {

extern std::atomic<bool> recording;
inline bool is_recording() { return recording.load(std::memory_order_relaxed); }

// The measurement of a span or a call.
struct Record {
  Time time;
  int64_t thread = 0;  // the system's number
  int64_t memory = 0;  // bytes that the call took and did not give back
  std::string shapes{}, stack{};
};

struct RecorderOptions {
  bool shapes = false, stacks = false;
  int64_t (*live_bytes)() = nullptr;  // null: memory is not measured
};

void start_recording(const RecorderOptions& options);  // fails when a recording is on
std::vector<Record> stop_recording();                  // in the order in which they ended
const RecorderOptions& recorder_options();             // of the recording that is on
void record(Record record);

// A call that is measured only while a recording is on. `category` and `name` must outlive it.
class Operation {
 public:
  Operation(const char* category, std::string_view name) {
    if (is_recording()) [[unlikely]]
      begin(category, name);
  }
  ~Operation() {
    if (category_) [[unlikely]]
      end();
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  void note(std::string shapes, std::string stack) {
    notes_ = std::make_unique<Notes>(std::move(shapes), std::move(stack));
  }

 private:
  struct Notes {
    std::string shapes, stack;
  };
  void begin(const char* category, std::string_view name);
  void end();

  const char* category_ = nullptr;
  std::string_view name_;
  int64_t begin_ = 0, memory_ = 0;
  std::unique_ptr<Notes> notes_;
};

}  // namespace fg::timing

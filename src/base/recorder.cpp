#include "base/recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <utility>

#include "base/fail.h"

namespace fg::timing {

std::atomic<bool> recording{false};

namespace {

struct Recorder {
  std::mutex mutex;
  RecorderOptions options;
  std::vector<Record> records;
};

Recorder& recorder() {
  static auto& only = *new Recorder;  // threads may end a call while the program ends
  return only;
}

// A forked child records nothing: what its parent records is taken by its parent.
void forget_in_child() {
  recording = false;
  new (&recorder()) Recorder;  // another thread may have held the lock
}

int64_t live_bytes() {
  auto ask = recorder().options.live_bytes;
  return ask ? ask() : 0;
}

}  // namespace

void start_recording(const RecorderOptions& options) {
  [[maybe_unused]] static const int once = pthread_atfork(nullptr, nullptr, forget_in_child);
  Recorder& all = recorder();
  std::scoped_lock lock(all.mutex);
  if (is_recording()) {
    fail("profiler: a profiler is already running in this process; stop it before another starts");
  }
  all.options = options;
  all.records.clear();
  recording = true;
  watch_spans(1);
}

std::vector<Record> stop_recording() {
  Recorder& all = recorder();
  std::scoped_lock lock(all.mutex);
  if (!is_recording()) fail("profiler: no profiler is running in this process");
  recording = false;
  watch_spans(-1);
  return std::exchange(all.records, {});
}

const RecorderOptions& recorder_options() { return recorder().options; }

void record(Record record) {
  record.thread = gettid();
  Recorder& all = recorder();
  std::scoped_lock lock(all.mutex);
  if (is_recording()) all.records.push_back(std::move(record));
}

void Operation::begin(const char* category, std::string_view name) {
  category_ = category;
  name_ = name;
  memory_ = live_bytes();
  begin_ = now();
}

void Operation::end() {
  Record made{.time = {category_, std::string(name_), {}, begin_, now()},
              .memory = live_bytes() - memory_};
  if (notes_) {
    made.shapes = std::move(notes_->shapes);
    made.stack = std::move(notes_->stack);
  }
  record(std::move(made));
}

}  // namespace fg::timing

#include "base/trace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>

#include "base/atomic_file.h"
#include "base/log.h"
#include "base/recorder.h"
#include "base/settings.h"

namespace fg::timing {

std::atomic<State> state{State::unread};

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

namespace {

struct Event {
  Time time;
  int thread;
};

thread_local Collector* collector = nullptr;  // the innermost of this thread

int thread_number() {
  static std::atomic<int> threads{0};
  static thread_local int mine = threads++;
  return mine;
}

// The text between quotes of a JSON string.
std::string in_quotes(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

// Written when the program ends.
class Events {
 public:
  ~Events() {
    if (events_.empty() || getpid() != owner_) return;  // a forked child has its parent's
    try {
      std::string text = document();
      AtomicFile file(path_);
      file.write(text.data(), text.size());
      file.commit();
    } catch (const std::exception& error) {
      logging::warn(fmt::format("FOREGRAD_TRACE: the file {}", error.what()));
    }
  }
  void add(Event event) {
    std::scoped_lock lock(mutex_);
    events_.push_back(std::move(event));
  }

 private:
  std::string document() const {
    std::string text = "[\n";
    const char* separator = "";
    for (const auto& [time, thread] : events_) {
      std::string arguments =
          time.note.empty() ? "" : fmt::format(R"(,"args":{{"note":"{}"}})", in_quotes(time.note));
      text += fmt::format(
          R"({}{{"ph":"X","cat":"{}","name":"{}","ts":{:.3f},"dur":{:.3f},"pid":{},"tid":{}{}}})",
          separator, time.category, in_quotes(time.name), 1e-3 * static_cast<double>(time.begin),
          1e6 * time.seconds(), owner_, thread, arguments);
      separator = ",\n";
    }
    return text + "\n]\n";
  }
  // A relative path means the folder that is current when the first event is.
  static std::string absolute(const std::string& path) {
    std::error_code gone;
    std::filesystem::path whole = std::filesystem::absolute(path, gone);
    return gone ? path : whole.string();
  }

  std::mutex mutex_;
  std::vector<Event> events_;
  std::string path_ = absolute(settings::text(settings::Id::trace));
  pid_t owner_ = getpid();
};

Events& events() {
  static Events all;
  return all;
}

}  // namespace

static bool writes_file() {
  static bool wanted = !settings::text(settings::Id::trace).empty();
  return wanted;
}

// How many collectors and recordings want everything.
static std::mutex watchers_mutex;
static int watchers = 0;

bool watch_spans(int more) {
  std::scoped_lock lock(watchers_mutex);
  watchers += more;
  if (writes_file()) events();  // made before what it outlives, so that it is written
  bool on = writes_file() || watchers > 0;
  state.store(on ? State::on : State::off, std::memory_order_relaxed);
  return on;
}

bool read_state() { return watch_spans(0); }

void Span::begin(const char* category, std::string_view name) {
  category_ = category;
  name_ = name;
  begin_ = now();
}

void Span::end(std::string note) {
  Time time{category_, std::string(name_), std::move(note), begin_, now()};
  category_ = nullptr;
  if (collector) {
    collector->times_.push_back(time);
    collector->times_.back().begin -= collector->begin_;
    collector->times_.back().end -= collector->begin_;
  }
  if (is_recording()) record({.time = time});
  if (writes_file()) events().add({std::move(time), thread_number()});
}

Collector::Collector(Of what) : what_(what), begin_(now()), outer_(collector) {
  collector = this;
  if (what_ == Of::everything) watch_spans(1);
}

Collector::~Collector() {
  collector = outer_;
  if (what_ == Of::everything) watch_spans(-1);
}

std::vector<Time> Collector::take() {
  std::vector<Time> result = std::move(times_);
  times_.clear();
  // Spans end from the inside out; of two that began at once the longer is around the other.
  std::stable_sort(result.begin(), result.end(), [](const Time& a, const Time& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<int64_t> around;
  for (Time& time : result) {
    while (!around.empty() && around.back() < time.end) around.pop_back();
    time.depth = static_cast<int>(around.size());
    around.push_back(time.end);
  }
  return result;
}

}  // namespace fg::timing

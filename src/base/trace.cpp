#include "base/trace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/settings.h"

namespace fg::trace {

std::atomic<State> state{State::unread};

namespace {

struct Event {
  const char* category;
  std::string name;
  int64_t begin, end;
  int thread;
};

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int thread_number() {
  static std::atomic<int> threads{0};
  static thread_local int mine = threads++;
  return mine;
}

// The text between quotes of a JSON string.
std::string quoted(std::string_view text) {
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
    const std::string& path = settings::text(settings::Id::trace);
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (!file) {
      logging::warn("FOREGRAD_TRACE: the file " + path + " cannot be written");
      return;
    }
    std::fputs("[\n", file);
    const char* separator = "";
    for (const Event& event : events_) {
      fmt::print(
          file,
          R"({}{{"ph":"X","cat":"{}","name":"{}","ts":{:.3f},"dur":{:.3f},"pid":{},"tid":{}}})",
          separator, event.category, quoted(event.name), 1e-3 * static_cast<double>(event.begin),
          1e-3 * static_cast<double>(event.end - event.begin), owner_, event.thread);
      separator = ",\n";
    }
    std::fputs("\n]\n", file);
    std::fclose(file);
  }
  void add(Event event) {
    std::scoped_lock lock(mutex_);
    events_.push_back(std::move(event));
  }

 private:
  std::mutex mutex_;
  std::vector<Event> events_;
  pid_t owner_ = getpid();
};

Events& events() {
  static Events all;
  return all;
}

}  // namespace

bool read_state() {
  bool on = !settings::text(settings::Id::trace).empty();
  if (on) events();  // made before what it outlives, so that it is written
  state.store(on ? State::on : State::off, std::memory_order_relaxed);
  return on;
}

void Span::begin(const char* category, std::string_view name) {
  category_ = category;
  name_ = name;
  begin_ = now();
}

void Span::end() { events().add({category_, std::string(name_), begin_, now(), thread_number()}); }

}  // namespace fg::trace

#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/settings.h"
#include "base/terminal.h"

namespace fg::logging {

constinit std::atomic<uint32_t> topics = kUnread;

namespace {

constexpr const char* kNames[] = {"pool", "graph", "cache", "compile"};
constinit std::atomic<void (*)(const std::string&)> warning_handler = nullptr;

uint32_t bits_of(std::string_view topic) {
  if (topic == "all") return (1u << std::size(kNames)) - 1;
  auto found = std::find(std::begin(kNames), std::end(kNames), topic);
  if (found == std::end(kNames)) {
    settings::fail_value(settings::Id::log, fmt::format(" with topic \"{}\"", topic));
  }
  return 1u << (found - kNames);
}

}  // namespace

uint32_t read_topics() {
  uint32_t bits = 0;
  std::string_view rest = settings::text(settings::Id::log);
  while (!rest.empty()) {
    size_t comma = std::min(rest.find(','), rest.size());
    bits |= bits_of(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  topics = bits;
  return bits;
}

const char* name(Topic topic) { return kNames[static_cast<int>(topic)]; }

void write_line(std::string_view label, const std::string& line) {
  std::string whole = fmt::format("foregrad {}: {}\n", label, terminal_text(line));
  // One call, so that lines of several threads and processes do not mix.
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, whole.data(), whole.size());
}

void set_warning_handler(void (*handler)(const std::string& text)) { warning_handler = handler; }

void warn(const std::string& text) {
  auto handler = warning_handler.load();
  handler ? handler(text) : write_line("warning", text);
}

}  // namespace fg::logging

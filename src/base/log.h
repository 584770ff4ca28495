// Log lines and warnings on standard error. FOREGRAD_LOG=pool,graph chooses topics; a topic that is
// off costs one load and one branch. No locks, so a forked child can always log. (The namespace is
// not called `log`: that is the logarithm.)
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace fg::logging {

enum class Topic : uint8_t { pool, graph, cache, compile };

inline constexpr uint32_t kUnread = 1u << 31;
extern std::atomic<uint32_t> topics;  // a bit per topic
uint32_t read_topics();               // an unknown topic is an Error
void write_line(std::string_view label, const std::string& line);
// A language binding may take the warnings; nullptr gives them back to standard error.
void set_warning_handler(void (*handler)(const std::string& text));
void warn(const std::string& text);

inline bool enabled(Topic topic) {
  uint32_t bits = topics.load(std::memory_order_relaxed);
  if (bits == kUnread) [[unlikely]] {
    bits = read_topics();
  }
  return bits >> static_cast<int>(topic) & 1;
}

const char* name(Topic topic);

// logging::write<"hit {}">(logging::Topic::cache, key) prints "foregrad cache: hit 3f2a".
template <Text text, class... Args>
void write(Topic topic, const Args&... args) {
  constexpr fmt::format_string<const Args&...> checked(text.view());
  if (enabled(topic)) write_line(name(topic), fmt::format(checked, args...));
}

// Says this text once per process, whatever its arguments: each text has its own mark.
template <Text text, class... Args>
void warn_once(const Args&... args) {
  static constinit std::atomic<bool> said = false;
  constexpr fmt::format_string<const Args&...> checked(text.view());
  if (!said.exchange(true)) warn(fmt::format(checked, args...));
}

}  // namespace fg::logging

#include "base/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "base/fail.h"

namespace fg::settings {

namespace {

constexpr Setting kTable[] = {
    {Id::level, "FOREGRAD_LEVEL", "auto", "auto, baseline or v3",
     "Instruction-set level of all kernels; auto takes the best that the CPU has."},
    {Id::num_threads, "FOREGRAD_NUM_THREADS", "auto", "auto or a number from 1 to 1024",
     "Threads that work on one operation, the caller included; auto is one per core."},
    {Id::log, "FOREGRAD_LOG", "", "topics separated by commas: pool, graph, cache, compile or all",
     "What is logged to standard error."},
    {Id::backend, "FOREGRAD_BACKEND", "native", "native or interpreter",
     "What runs captured graphs: code compiled for them, or the eager kernels one by one."},
    {Id::trace, "FOREGRAD_TRACE", "", "the path of a file",
     "Where the times of capturing, compiling and of every compiled step are written."},
};
constexpr size_t kCount = std::size(kTable);

std::array<std::string, kCount> read_environment() {
  std::array<std::string, kCount> values;
  std::transform(std::begin(kTable), std::end(kTable), values.begin(), [](const Setting& s) {
    const char* value = std::getenv(s.name);
    return std::string(value && *value ? value : s.fallback);
  });
  return values;
}

}  // namespace

std::span<const Setting> all() { return kTable; }

const Setting& setting(Id id) { return kTable[static_cast<size_t>(id)]; }

const std::string& text(Id id) {
  // Kept for ever: threads may still ask while the program ends.
  static const auto& values = *new std::array<std::string, kCount>(read_environment());
  return values[static_cast<size_t>(id)];
}

int64_t integer(Id id) {
  const std::string& value = text(id);
  if (value == "auto") return 0;
  int64_t result = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc() || end != value.data() + value.size() || result < 1) fail_value(id);
  return result;
}

void fail_value(Id id, const std::string& why) {
  const Setting& s = setting(id);
  fail(ErrorKind::value, "{}: got \"{}\"{}; expected {}", s.name, text(id), why, s.expected);
}

}  // namespace fg::settings

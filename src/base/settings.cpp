#include "base/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/environment.h"
#include "base/fail.h"

namespace fg::settings {

namespace {

constexpr Setting kTable[] = {
    {Id::level, "FOREGRAD_LEVEL", "auto", "auto, baseline, v3 or v4",
     "Instruction-set level of all kernels; auto takes the best that the CPU has."},
    {Id::num_threads, "FOREGRAD_NUM_THREADS", "auto", "auto or a number from 1 to 1024",
     "Threads that work on one operation, the caller included; auto is one per core."},
    {Id::log, "FOREGRAD_LOG", "", "topics separated by commas: pool, graph, cache, compile or all",
     "What is logged to standard error."},
    {Id::backend, "FOREGRAD_BACKEND", "native", "native or interpreter",
     "What runs captured graphs: code compiled for them, or the eager kernels one by one."},
    {Id::trace, "FOREGRAD_TRACE", "", "the path of a file",
     "Where the times of capturing, compiling and of every compiled step are written."},
    {Id::force_disable_caches, "FOREGRAD_FORCE_DISABLE_CACHES", "0", "0 or 1",
     "No cache at all, whatever other settings and programs say."},
    {Id::cache, "FOREGRAD_CACHE", "1",
     "1, 0, local (never the remote store) or remote (no files on this machine)",
     "Whether what was compiled is kept and found again."},
    {Id::cache_dir, "FOREGRAD_CACHE_DIR", "", "the path of a folder",
     "Where the cache is; default: $XDG_CACHE_HOME/foregrad, else ~/.cache/foregrad."},
    {Id::cache_size, "FOREGRAD_CACHE_SIZE", "2G", "bytes, or a number with K, M, G or T",
     "What the cache may take on disk; what was unused for longest goes first."},
    {Id::cache_tag, "FOREGRAD_CACHE_TAG", "", "any text",
     "Part of every key: another tag is another cache."},
    {Id::cache_strict, "FOREGRAD_CACHE_STRICT", "0", "0 or 1",
     "For tests: what the cache cannot do is an error instead of a count."},
    {Id::cache_wait, "FOREGRAD_CACHE_WAIT", "300", "seconds",
     "How long to wait while another process compiles the same; then both do."},
    {Id::cache_remote, "FOREGRAD_CACHE_REMOTE", "",
     "redis://user:password@host:port/database, or rediss:// for TLS",
     "A Redis server that several machines share; needs FOREGRAD_CACHE_KEY."},
    {Id::cache_remote_timeout, "FOREGRAD_CACHE_REMOTE_TIMEOUT", "0.5", "seconds",
     "How long one question to the remote store may take."},
    {Id::cache_key, "FOREGRAD_CACHE_KEY", "", "the path of a file of 32 or more random bytes",
     "The secret of those who share a remote store or bundles of entries."},
};
constexpr size_t kCount = std::size(kTable);

std::array<std::string, kCount> read_environment() {
  std::array<std::string, kCount> values;
  std::transform(std::begin(kTable), std::end(kTable), values.begin(), [](const Setting& s) {
    const char* value = environment(s.name);
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

bool yes(Id id) {
  const std::string& value = text(id);
  if (value != "0" && value != "1") fail_value(id);
  return value == "1";
}

bool read_bytes(std::string_view value, uint64_t& result) {
  const char* last = value.data() + value.size();
  auto [end, error] = std::from_chars(value.data(), last, result);
  std::string_view unit(end, static_cast<size_t>(last - end));
  size_t power = unit.empty() ? 0 : std::string_view("KMGT").find(unit) + 1;
  bool known = unit.empty() || (unit.size() == 1 && power != 0);
  if (error != std::errc() || !known || result > UINT64_MAX >> (10 * power)) return false;
  result <<= 10 * power;
  return true;
}

uint64_t bytes(Id id) {
  uint64_t result = 0;
  if (!read_bytes(text(id), result)) fail_value(id);
  return result;
}

double number(Id id) {
  const std::string& value = text(id);
  double result = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc() || end != value.data() + value.size() || !(result >= 0)) fail_value(id);
  return result;
}

void fail_value(Id id, const std::string& why) {
  const Setting& s = setting(id);
  fail(ErrorKind::value, "{}: got \"{}\"{}; expected {}", s.name, text(id), why, s.expected);
}

}  // namespace fg::settings

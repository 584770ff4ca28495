// Every FOREGRAD_* environment variable in one table. A value is read and checked at its first use
// and then stays; any other than the expected values is an Error that lists those. A program
// with more rights than its user reads none (environment.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fg::settings {

enum class Id : uint8_t {
  level,
  num_threads,
  log,
  backend,
  trace,
  force_disable_caches,
  cache,
  cache_dir,
  cache_size,
  cache_tag,
  cache_strict,
  cache_wait,
  cache_remote,
  cache_remote_timeout,
  cache_key,
};

struct Setting {
  Id id;
  const char* name;
  const char* fallback;       // the value of an unset or empty variable
  const char* expected;       // the values it may have, for people
  const char* documentation;  // one sentence
};

std::span<const Setting> all();
const Setting& setting(Id id);

// The value as text, the fallback when unset. Never throws: its reader checks it.
const std::string& text(Id id);
// A value that is a count; the fallback "auto" is 0.
int64_t integer(Id id);
bool yes(Id id);        // 1 or 0
uint64_t bytes(Id id);  // a number, or one with K, M, G or T
bool read_bytes(std::string_view value, uint64_t& result);
double number(Id id);  // not negative

// `FOREGRAD_LEVEL: got "v9"; expected auto, baseline or v3`
[[noreturn]] void fail_value(Id id, const std::string& why = "");

}  // namespace fg::settings

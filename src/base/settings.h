// Every FOREGRAD_* environment variable in one table. A value is read and checked at its first use
// and then stays; a value that is not understood is an Error that says what is.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace fg::settings {

enum class Id : uint8_t { level, num_threads, log, backend, trace };

struct Setting {
  Id id;
  const char* name;
  const char* fallback;       // what an unset or empty variable means
  const char* expected;       // the values it may have, for people
  const char* documentation;  // one sentence
};

std::span<const Setting> all();
const Setting& setting(Id id);

// The value as text, the fallback when unset. Never throws: its reader knows what it may be.
const std::string& text(Id id);
// A value that is a count; the fallback "auto" is 0.
int64_t integer(Id id);

// `FOREGRAD_LEVEL: got "v9"; expected auto, baseline or v3`
[[noreturn]] void fail_value(Id id, const std::string& why = "");

}  // namespace fg::settings

// What happened at a lookup, for `foregrad cache why` and cache_stats().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/key.h"

namespace fg::cache {

enum class Outcome : uint8_t {
  memory_hit,
  local_hit,
  remote_hit,
  miss,
  guard_miss,  // entries for this key, but none for these sizes
  bypass,      // nothing was looked up; the reason says why
};
const char* name(Outcome outcome);

struct Lookup {
  int64_t at = 0;  // seconds since 1970
  int64_t process = 0;
  Outcome outcome = Outcome::miss;
  std::string key{};     // its digest; empty for a bypass
  std::string reason{};  // of a bypass
  double microseconds = 0;
  bool waited = false;  // for another process that compiled the same
  // The key's fields; values that are long are their digests.
  std::vector<Field> fields{};
};

std::vector<Field> short_fields(const Key& key);

// One line of text without an end of line, and back. False: the line is none.
std::string to_line(const Lookup& lookup);
bool from_line(std::string_view line, Lookup& lookup);

// The last lookups of all processes, in the folder of the local store. Bounded; whatever goes wrong
// here is nobody's concern.
void append_to_log(int folder, const Lookup& lookup);
std::vector<Lookup> read_log(int folder);  // the oldest first

}  // namespace fg::cache

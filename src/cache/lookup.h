// Lookups and their outcomes, for `foregrad cache why` and cache_stats().
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
  // The key's fields; a long value is replaced by its digest.
  std::vector<Field> fields{};
};

std::vector<Field> short_fields(const Key& key);

// A lookup as one line of text, without its end, and back. False: the line holds no lookup.
std::string to_line(const Lookup& lookup);
bool from_line(std::string_view line, Lookup& lookup);

// An entry that was new in the local store when it was written.
struct Stored {
  std::string key, name;  // as in StoredFile
  size_t after = 0;       // how many of the log's lookups were before
};

// The log in the folder of the local store: the last lookups of all processes, and the entries that
// were stored between them. Its order says which entries a lookup could have found; times in
// seconds could not. The log is bounded, and its failures are ignored.
struct Log {
  std::vector<Lookup> lookups{};  // the oldest first
  std::vector<Stored> stored{};
};
void append_to_log(int folder, const Lookup& lookup);
void append_stored_to_log(int folder, const std::string& key, const std::string& name);
Log read_log(int folder);

}  // namespace fg::cache

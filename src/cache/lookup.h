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

// An entry that was written to the local store and had not been there.
struct Stored {
  std::string key, name;  // as in StoredFile
  size_t after = 0;       // how many of the log's lookups were before
};

// The last lookups of all processes, in the folder of the local store, and between them what was
// stored: the order says which entries a lookup could have found, as times of seconds do not.
// Bounded; whatever goes wrong here is nobody's concern.
struct Log {
  std::vector<Lookup> lookups{};  // the oldest first
  std::vector<Stored> stored{};
};
void append_to_log(int folder, const Lookup& lookup);
void append_stored_to_log(int folder, const std::string& key, const std::string& name);
Log read_log(int folder);

}  // namespace fg::cache

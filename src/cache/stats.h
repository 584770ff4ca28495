// Counters of the cache in this process.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cache/lookup.h"

namespace fg::cache {

struct Stats {
  uint64_t memory_hits = 0, local_hits = 0, remote_hits = 0;
  uint64_t misses = 0;        // no entry for this key
  uint64_t guard_misses = 0;  // entries, but none for these sizes
  uint64_t waited = 0;        // for another process that compiled the same
  uint64_t saved = 0, saved_remotely = 0;
  uint64_t evicted = 0;                        // least recently used, to make room
  double milliseconds_saved = 0;               // the time that compiling the hits had taken
  std::map<std::string, uint64_t> bypasses{};  // by reason, without a lookup
  std::map<std::string, uint64_t> failures{};  // by reason

  std::vector<Lookup> lookups{};  // the last ones, the oldest first

  uint64_t hits() const { return memory_hits + local_hits + remote_hits; }
};

}  // namespace fg::cache

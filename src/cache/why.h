// Reasons of misses: the entry with the nearest key, and the fields in which the keys differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cache/key.h"
#include "cache/local_store.h"
#include "cache/lookup.h"

namespace fg::cache {

struct Nearest {
  std::string key;                        // its digest
  std::vector<Difference> differences{};  // one: looked for; other: the nearest entry's
};

struct Explained {
  Lookup lookup;
  std::optional<Nearest> nearest{};  // of a miss, when there was any entry
};

// The last lookups of all processes, the oldest first. A miss is compared with entries that were
// stored before it, among those used last; long values are digests here.
std::vector<Explained> explain_lookups(const LocalStore& store, size_t count);

// One sentence per lookup, for people.
std::string sentence(const Explained& explained);

}  // namespace fg::cache

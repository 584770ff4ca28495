// The files of a local store, as the store and its collector see them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/digest.h"
#include "cache/local_store.h"

namespace fg::cache {

inline constexpr const char* kEntries = "entries";
inline constexpr const char* kLocks = "locks";
inline constexpr const char* kUsage = "usage";

std::optional<Digest> digest_from_hex(const std::string& text);
// "entries/3f/02ab..."
std::string path_of(const std::string& key);

bool is_temporary(const std::string& name);

// Every file below entries/, those of killed writers too.
void each_file(int root, const std::function<void(const StoredFile&)>& visit);
// Bytes of a file on disk, with its share of a folder: many small files fill a disk too.
uint64_t bytes_on_disk(uint64_t size);

}  // namespace fg::cache

// Helpers of the subcommands of `foregrad cache`: the store of this user, keys by the first digits
// of their digests, sizes and times for people.
#pragma once

#include <string>
#include <vector>

#include "cache/config.h"
#include "cache/entry.h"
#include "cache/local_store.h"

namespace fg::cli {

cache::LocalStore open_store();

struct StoredEntry {
  cache::StoredFile file;
  Bytes content;
  cache::Entry entry;
};
StoredEntry read_entry(const cache::LocalStore& store, const cache::StoredFile& file);

// The entries of the one key whose digest begins with `prefix`, as git finds a commit.
std::vector<StoredEntry> entries_of(const cache::LocalStore& store, const std::string& prefix);

std::string short_key(const std::string& key);
std::string size_text(uint64_t bytes);   // "1.5 MB"
std::string time_text(int64_t seconds);  // "2026-11-16 19:02:53"
uint64_t bytes_from(const std::string& text, uint64_t fallback);

}  // namespace fg::cli

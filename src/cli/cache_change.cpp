// `foregrad cache verify | gc | clear | export | import`: what checks, removes or carries entries.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/fail.h"
#include "base/terminal.h"
#include "cache/bundle.h"
#include "cache/secret.h"
#include "cli/cache.h"
#include "cli/cache_store.h"

namespace fg::cli {

using Json = nlohmann::ordered_json;

namespace {

void print(const Json& document) { fmt::print("{}\n", document.dump(2)); }

SecretKey key_to_share(const CacheOptions& options, const char* purpose) {
  const std::string& path = options.shared_key;
  return cache::shared_key(path.empty() ? cache::config_from_settings().shared_key : path, purpose);
}

}  // namespace

void cache_verify(const CacheOptions& options) {
  cache::LocalStore store = open_store();
  uint64_t good = 0;
  Json bad = Json::array();
  for (const cache::StoredFile& file : store.list()) {
    try {
      store.read(file);
      good++;
    } catch (const Error& error) {
      bad.push_back({{"key", file.key}, {"name", file.name}, {"problem", error.what()}});
      if (options.remove) store.remove(file.key, file.name);
      if (!options.json) fmt::print("{}: {}\n", short_key(file.key), terminal_text(error.what()));
    }
  }
  if (options.json) print({{"good", good}, {"bad", bad}, {"removed", options.remove}});
  if (!options.json) fmt::print("{} entries are good, {} are not\n", good, bad.size());
  if (!bad.empty() && !options.remove) {
    fail("cache verify: {} entries are not good; they are never used, and --remove removes them",
         bad.size());
  }
}

void cache_collect(const CacheOptions& options) {
  uint64_t limit = bytes_from(options.size, cache::config_from_settings().size_limit);
  cache::Collected result = open_store().collect(limit);
  if (options.json) {
    return print({{"bytes_before", result.bytes_before},
                  {"bytes_after", result.bytes_after},
                  {"entries", result.entries},
                  {"removed", result.removed},
                  {"orphans", result.orphans},
                  {"stale_locks", result.stale_locks}});
  }
  fmt::print("{} entries removed, {} left: {}, was {}\n", result.removed, result.entries,
             size_text(result.bytes_after), size_text(result.bytes_before));
  if (result.orphans + result.stale_locks) {
    fmt::print("{} files and {} locks of killed processes removed\n", result.orphans,
               result.stale_locks);
  }
}

void cache_clear(const CacheOptions& options) {
  cache::LocalStore store = open_store();
  size_t entries = store.list().size();
  store.clear();
  if (options.json) return print({{"removed", entries}});
  fmt::print("{} entries removed; the secret key stays\n", entries);
}

void cache_export(const CacheOptions& options) {
  SecretKey shared = key_to_share(options, "cache export");
  cache::LocalStore store = open_store();
  std::vector<cache::BundledEntry> entries;
  for (const cache::StoredFile& file : store.list()) {
    try {
      Bytes content = store.read(file);
      entries.push_back({cache::key_of(content).digest(), file.name, content});
    } catch (const Error& error) {
      fmt::print(stderr, "left out: {}: {}\n", short_key(file.key), terminal_text(error.what()));
    }
  }
  std::string bundle = cache::make_bundle(entries, shared);
  AtomicFile file(options.names.at(0), 0600);
  file.write(bundle.data(), bundle.size());
  file.commit();
  if (options.json) return print({{"entries", entries.size()}, {"bytes", bundle.size()}});
  fmt::print("{} entries, {}\n", entries.size(), size_text(bundle.size()));
}

void cache_import(const CacheOptions& options) {
  SecretKey shared = key_to_share(options, "cache import");
  constexpr size_t kLargest = size_t{8} << 30;
  std::vector<cache::BundledEntry> entries =
      cache::read_bundle(read_file(options.names.at(0), kLargest), shared);
  cache::write_all_or_none(open_store(), entries);
  if (options.json) return print({{"entries", entries.size()}});
  fmt::print("{} entries imported\n", entries.size());
}

}  // namespace fg::cli

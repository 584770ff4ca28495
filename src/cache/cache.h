// The cache: entries of bytes under keys of named fields, in memory, on this machine and on a
// remote server. It knows nothing of graphs. A failure in here is a miss or a bypass, counted by
// its reason and reported once per reason; in strict mode it is an Error.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/callback.h"
#include "cache/config.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "cache/stats.h"
#include "cache/turn.h"

namespace fg::cache {

// Whether any store is on. When none is, callers need not make a key.
bool enabled();
Config config();
// Takes effect now; entries in memory are forgotten. FOREGRAD_FORCE_DISABLE_CACHES=1 still wins.
void configure(const Config& config);

// The digest under which an entry for this key is kept: of its fields and of the tag in use.
Digest address_of(const Key& key);

// Judges an entry that has the right key, by its guards on sizes; true takes it.
using Accept = Callback<bool(const Entry&)>;
// Looks in memory, on this machine and on the remote server, in this order.
std::optional<Entry> find(const Key& key, const Accept& accept = {});
// Keeps an entry at once in memory and on this machine, and soon on the remote server.
void store(const Key& key, const Entry& entry);

// Single flight after a miss: one process compiles the key, the others wait and find its entry.
//   Search search = find_or_take_turn(key);
//   if (!search.entry) { compile; store(key, ...); }      // and the turn ends with `search`
struct Search {
  std::optional<Entry> entry;
  Turn turn;
};
Search find_or_take_turn(const Key& key, const Accept& accept = {});

// Counts a call that could have used the cache and did not; the reason is one of a few short texts.
void note_bypass(const std::string& reason);

Stats stats();
void reset_stats();

// Removes all entries of this machine and of this process, not those of the remote server; the
// user's secret key stays.
void clear();
// Waits until the remote server has every entry; false when that takes longer.
bool flush(double seconds);

// Entries that this process wrote, hit or loaded, for another machine. Needs a shared key.
struct Artifacts {
  std::string bytes;
  std::vector<std::string> keys;  // digests
};
std::optional<Artifacts> save_artifacts();  // none: there is nothing to save
// Takes over all entries or none; returns the digests of their keys. An Error says why none.
std::vector<std::string> load_artifacts(std::string_view bytes);
// A scope in which save_artifacts sees only entries that came after its beginning.
class FreshArtifacts {
 public:
  FreshArtifacts();
  ~FreshArtifacts();
  FreshArtifacts(const FreshArtifacts&) = delete;
  FreshArtifacts& operator=(const FreshArtifacts&) = delete;

 private:
  struct Outer;
  std::unique_ptr<Outer> outer_;
};

}  // namespace fg::cache

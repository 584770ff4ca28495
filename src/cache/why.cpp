#include "cache/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cache/entry.h"
#include "cache/unusable.h"

namespace fg::cache {
namespace {

constexpr size_t kMostEntries = 1000;

struct KnownKey {
  std::string digest;
  Key key;       // with short values
  size_t since;  // how many lookups had ended when it was stored
};

// The place in the log by key and name. An entry without one is older than the whole log.
using StoredSince = std::map<std::pair<std::string, std::string>, size_t>;

StoredSince stored_since(const Log& log) {
  StoredSince since;
  for (const Stored& stored : log.stored) since[{stored.key, stored.name}] = stored.after;
  return since;
}

std::vector<KnownKey> known_keys(const LocalStore& store, const StoredSince& since) {
  std::vector<StoredFile> files = store.list();
  std::sort(files.begin(), files.end(),
            [](const StoredFile& a, const StoredFile& b) { return a.used_at > b.used_at; });
  if (files.size() > kMostEntries) files.resize(kMostEntries);
  std::vector<KnownKey> keys;
  for (const StoredFile& file : files) {
    try {
      auto known = since.find({file.key, file.name});
      keys.push_back({file.key,
                      {short_fields(key_of(store.read(file)))},
                      known == since.end() ? 0 : known->second});
    } catch (const Error&) {
      continue;  // `verify` is the command for these
    }
  }
  return keys;
}

// The nearest entry of the lookup that has this number among all in the log.
std::optional<Nearest> nearest(const Lookup& lookup, size_t number,
                               const std::vector<KnownKey>& keys) {
  std::optional<Nearest> best;
  for (const KnownKey& known : keys) {
    if (known.since > number || known.digest == lookup.key) continue;  // it was compiled since
    std::vector<Difference> found = differences({lookup.fields}, known.key);
    if (!best || found.size() < best->differences.size()) {
      best = Nearest{known.digest, std::move(found)};
    }
  }
  return best;
}

std::string text(const Difference& difference) {
  std::string name = printable(difference.name);
  if (!difference.in_one) return name + " (which this key does not have)";
  if (!difference.in_other) return name + " (which only this key has)";
  return fmt::format("{} ({})", name, first_difference(difference.one, difference.other));
}

}  // namespace

std::vector<Explained> explain_lookups(const LocalStore& store, size_t count) {
  Log log = read_log(store.folder());
  std::vector<Explained> result;
  std::optional<std::vector<KnownKey>> keys;
  for (size_t i = log.lookups.size() - std::min(count, log.lookups.size()); i < log.lookups.size();
       i++) {
    result.push_back({log.lookups[i]});
    if (log.lookups[i].outcome != Outcome::miss) continue;
    if (!keys) keys = known_keys(store, stored_since(log));
    result.back().nearest = nearest(log.lookups[i], i, *keys);
  }
  return result;
}

std::string sentence(const Explained& explained) {
  const Lookup& lookup = explained.lookup;
  std::string begin = name(lookup.outcome);
  if (lookup.waited) begin += ", after waiting for another process";
  switch (lookup.outcome) {
    case Outcome::bypass:
      return begin + ": " + printable(lookup.reason);
    case Outcome::guard_miss:
      return begin + ": there are entries for this key, but for other sizes";
    case Outcome::miss:
      break;
    default:
      return begin;
  }
  if (!explained.nearest) return begin + ": there was no other entry to compare with";
  std::vector<std::string> parts;
  for (const Difference& difference : explained.nearest->differences) {
    parts.push_back(text(difference));
  }
  return fmt::format("{}: the nearest entry {} differs in {}", begin,
                     explained.nearest->key.substr(0, 12), fmt::join(parts, ", "));
}

}  // namespace fg::cache

#include "cache/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cache/entry.h"
#include "cache/state.h"
#include "cache/unusable.h"

namespace fg::cache {
namespace {

constexpr size_t kMostEntries = 1000;

struct KnownKey {
  std::string digest;
  Key key;  // with short values
};

std::vector<KnownKey> known_keys(const LocalStore& store) {
  std::vector<StoredFile> files = store.list();
  std::sort(files.begin(), files.end(),
            [](const StoredFile& a, const StoredFile& b) { return a.used_at > b.used_at; });
  if (files.size() > kMostEntries) files.resize(kMostEntries);
  std::vector<KnownKey> keys;
  for (const StoredFile& file : files) {
    try {
      keys.push_back({file.key, {short_fields(key_of(store.read(file)))}});
    } catch (const Error&) {
      continue;  // `verify` is the command for these
    }
  }
  return keys;
}

std::optional<Nearest> nearest(const Lookup& lookup, const std::vector<KnownKey>& keys) {
  std::optional<Nearest> best;
  for (const KnownKey& known : keys) {
    if (known.digest == lookup.key) continue;  // it was compiled since
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

std::vector<Explained> explain_lookups(const LocalStore& store,
                                       const std::vector<Lookup>& lookups) {
  std::vector<Explained> result;
  std::vector<KnownKey> keys;
  bool read = false;
  for (const Lookup& lookup : lookups) {
    result.push_back({lookup});
    if (lookup.outcome != Outcome::miss) continue;
    if (!read) keys = known_keys(store);
    read = true;
    result.back().nearest = nearest(lookup, keys);
  }
  return result;
}

std::vector<Explained> why() {
  auto now = state();
  std::vector<Lookup> lookups = now->stats().lookups;
  std::vector<Problem> ignored;
  if (auto local = now->local(ignored)) return explain_lookups(*local, lookups);
  std::vector<Explained> result;
  for (Lookup& lookup : lookups) result.push_back({std::move(lookup)});
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
  if (!explained.nearest) return begin + ": there is no other entry to compare with";
  std::vector<std::string> parts;
  for (const Difference& difference : explained.nearest->differences) {
    parts.push_back(text(difference));
  }
  return fmt::format("{}: the nearest entry {} differs in {}", begin,
                     explained.nearest->key.substr(0, 12), fmt::join(parts, ", "));
}

}  // namespace fg::cache

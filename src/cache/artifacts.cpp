// Artifacts: the entries that this process used, as one string for another machine, and back.
#include <algorithm>

#include "cache/bundle.h"
#include "cache/cache.h"
#include "cache/secret.h"
#include "cache/state.h"
#include "cache/unusable.h"

namespace fg::cache {
namespace {

// Finds a recorded entry in memory, else on this machine; entries evicted since are left out.
bool add_entry(State& state, const Digest& key, const std::string& name,
               std::vector<BundledEntry>& entries) {
  auto take = [&](const Candidate& candidate) {
    if (candidate.name != name) return false;
    entries.push_back({key, name, candidate.content});
    return true;
  };
  for (const Candidate& candidate : state.in_memory(key)) {
    if (take(candidate)) return true;
  }
  std::vector<Problem> problems;
  auto local = state.local(problems);
  return local && local->visit(key, take, [](const std::exception&) {});
}

}  // namespace

std::optional<Artifacts> save_artifacts() {
  auto now = state();
  Recorded recorded = now->recorded();
  if (recorded.empty()) return std::nullopt;
  SecretKey shared = shared_key(now->config().shared_key, "saving what was compiled");
  std::vector<BundledEntry> entries;
  Artifacts artifacts;
  for (const auto& [key, name] : recorded) {
    if (!add_entry(*now, key, name, entries)) continue;
    artifacts.keys.push_back(hex(key));
  }
  if (entries.empty()) return std::nullopt;
  artifacts.bytes = make_bundle(entries, shared);
  return artifacts;
}

std::vector<std::string> load_artifacts(std::string_view bytes) {
  auto now = state();
  SecretKey shared = shared_key(now->config().shared_key, "loading what was compiled elsewhere");
  std::vector<BundledEntry> entries = read_bundle(bytes, shared);
  std::vector<Problem> problems;
  if (auto local = now->local(problems)) write_all_or_none(*local, entries);
  now->settle(problems);
  std::vector<std::string> keys;
  for (const BundledEntry& entry : entries) {
    // Recorded before any lookup asks for it: the next bundle shall hold at least these entries.
    now->remember(entry.key, {entry.name, entry.content});
    keys.push_back(hex(entry.key));
  }
  return keys;
}

struct FreshArtifacts::Outer {
  Recorded entries;
};
FreshArtifacts::FreshArtifacts() : outer_(new Outer{state()->exchange_recorded({})}) {}
FreshArtifacts::~FreshArtifacts() { state()->exchange_recorded(std::move(outer_->entries)); }

}  // namespace fg::cache

#include "cache/cache.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <utility>

#include "base/log.h"
#include "base/trace.h"
#include "cache/state.h"
#include "cache/unusable.h"

namespace fg::cache {
namespace {

using Clock = std::chrono::steady_clock;
using Problems = std::vector<Problem>;

Key tagged(const Key& key, const Config& config) {
  Key result = key;
  if (!config.tag.empty()) result.fields.push_back({"tag", config.tag});
  return result;
}

Lookup lookup_of(const Key& key, const Digest& address) {
  Lookup lookup;
  lookup.at = std::time(nullptr);
  lookup.process = getpid();
  lookup.key = hex(address);
  lookup.fields = short_fields(key);
  return lookup;
}

// One lookup through all stores.
class Finder {
 public:
  Finder(State& state, const Key& key, const Accept& accept)
      : state_(state),
        accept_(accept),
        key_(tagged(key, state.config())),
        address_(key_.digest()) {}

  std::optional<Entry> in_memory() {
    for (const Candidate& candidate : state_.in_memory(address_)) {
      if (take(candidate, Outcome::memory_hit)) break;
    }
    return std::exchange(found_, std::nullopt);
  }

  std::optional<Entry> on_this_machine() {
    auto report = [&](const std::exception& problem) { problems_.push_back(problem_of(problem)); };
    if (auto local = state_.local(problems_)) {
      local->visit(
          address_, [&](const Candidate& c) { return take(c, Outcome::local_hit); }, report);
    }
    return std::exchange(found_, std::nullopt);
  }

  // A hit on the remote server is written to the local store as well.
  std::optional<Entry> remotely() {
    auto remote = state_.remote(problems_);
    if (!remote) return std::nullopt;
    remote->visit(address_, [&](const Candidate& candidate) {
      if (!take(candidate, Outcome::remote_hit)) return false;
      if (auto local = state_.local(problems_)) {
        uint64_t evicted = local->write(address_, candidate.name, candidate.content.view());
        state_.with_stats([&](Stats& stats) { return stats.evicted += evicted; });
      }
      return true;
    });
    return std::exchange(found_, std::nullopt);
  }

  // Looks into one store; its failure is noted and must not keep us from the next store.
  std::optional<Entry> guarded(std::optional<Entry> (Finder::*look)()) {
    try {
      return (this->*look)();
    } catch (const std::exception& problem) {
      problems_.push_back(problem_of(problem));
      return std::exchange(found_, std::nullopt);
    }
  }

  // Looks again after waiting. Problems of other entries were noted at the first look.
  std::optional<Entry> again() {
    size_t before = problems_.size();
    std::optional<Entry> entry = guarded(&Finder::in_memory);
    if (!entry) entry = guarded(&Finder::on_this_machine);
    problems_.resize(std::min(before, problems_.size()));
    return entry;
  }

  void finish(bool waited) {
    Lookup lookup = lookup_of(key_, address_);
    lookup.outcome = outcome_;
    lookup.waited = waited;
    lookup.microseconds = std::chrono::duration<double, std::micro>(Clock::now() - begin_).count();
    state_.count(lookup);
    state_.with_stats([&](Stats& stats) { return stats.milliseconds_saved += saved_; });
    Problems none;
    if (auto local = state_.local(none)) append_to_log(local->folder(), lookup);
    log(lookup);
    state_.settle(std::exchange(problems_, {}));
  }

  const Digest& address() const { return address_; }
  Problems& problems() { return problems_; }

 private:
  static void log(const Lookup& lookup) {
    if (!logging::enabled(logging::Topic::cache)) return;
    logging::write<"{} {} in {:.0f} us">(logging::Topic::cache, name(lookup.outcome),
                                         lookup.key.substr(0, 12), lookup.microseconds);
    for (const Field& field : lookup.fields) {
      logging::write<"  {} = {}">(logging::Topic::cache, field.name, printable(field.value));
    }
  }

  bool take(const Candidate& candidate, Outcome outcome) {
    if (!has_key(candidate.content, key_)) {  // two keys with one digest, or something is broken
      problems_.push_back({"another key", "an entry has other fields than its key"});
      return false;
    }
    Entry entry = unpack(candidate.content);
    if (accept_ && !accept_(entry)) {
      outcome_ = Outcome::guard_miss;
      return false;
    }
    outcome_ = outcome;
    saved_ = entry.made.compile_milliseconds;
    found_ = std::move(entry);
    state_.remember(address_, candidate);
    return true;
  }

  State& state_;
  const Accept& accept_;
  Key key_;
  Digest address_;
  Clock::time_point begin_ = Clock::now();
  Outcome outcome_ = Outcome::miss;
  double saved_ = 0;
  std::optional<Entry> found_;
  Problems problems_;
};

std::optional<Entry> look_everywhere(Finder& finder) {
  std::optional<Entry> entry = finder.guarded(&Finder::in_memory);
  if (!entry) entry = finder.guarded(&Finder::on_this_machine);
  if (!entry) entry = finder.guarded(&Finder::remotely);
  return entry;
}

void write_locally(State& state, const Digest& address, const Candidate& candidate) {
  for (int attempt = 0; attempt < 2; attempt++) {
    Problems problems;
    auto local = state.local(problems);
    state.settle(problems);
    if (!local) return;
    try {
      uint64_t evicted = local->write(address, candidate.name, candidate.content.view());
      state.with_stats([&](Stats& stats) { return stats.evicted += evicted, ++stats.saved; });
      return;
    } catch (const FileError& problem) {
      if (problem.code() != ENOENT || attempt == 1) throw;
      state.forget_local();  // the whole folder was removed
    }
  }
}

}  // namespace

bool enabled() {
  if (forced_off()) return false;
  std::shared_ptr<State> now = state();
  const Config& config = now->config();
  return config.local || (config.remote && !config.remote_url.empty());
}

Config config() { return state()->config(); }

Digest address_of(const Key& key) { return tagged(key, state()->config()).digest(); }

std::optional<Entry> find(const Key& key, const Accept& accept) {
  if (!enabled()) return std::nullopt;
  timing::Phase phase("find in the cache");
  auto now = state();
  Finder finder(*now, key, accept);
  std::optional<Entry> entry = look_everywhere(finder);
  finder.finish(false);
  return entry;
}

Search find_or_take_turn(const Key& key, const Accept& accept) {
  Search search;
  if (!enabled()) return search;
  timing::Phase phase("find in the cache");
  auto now = state();
  Finder finder(*now, key, accept);
  search.entry = look_everywhere(finder);
  Problems ignored;
  bool waited = false;
  auto local = search.entry ? nullptr : now->local(ignored);
  if (local) {
    try {
      search.turn = take_turn(local->folder(), finder.address(), now->config().wait_seconds);
    } catch (const Error& problem) {  // not what an interrupt throws
      finder.problems().push_back(problem_of(problem));
    }
    waited = search.turn.waited();
    // The process that had the turn before us may have written the entry since we looked.
    search.entry = finder.again();
    if (search.entry) search.turn = Turn();
  }
  finder.finish(waited);
  return search;
}

void store(const Key& key, const Entry& entry) {
  if (!enabled()) return;
  timing::Phase phase("write to the cache");
  auto now = state();
  Problems problems;
  try {
    Key whole = tagged(key, now->config());
    Digest address = whole.digest();
    Candidate candidate{name_of(entry), Bytes(pack(whole, entry))};
    now->remember(address, candidate);
    if (auto remote = now->remote(problems)) {
      remote->write_later(address, candidate.name, candidate.content);
    }
    write_locally(*now, address, candidate);
  } catch (const std::exception& problem) {
    problems.push_back(problem_of(problem));
  }
  now->settle(problems);
}

void note_bypass(const std::string& reason) {
  if (!enabled()) return;
  auto now = state();
  Lookup lookup;
  lookup.at = std::time(nullptr);
  lookup.process = getpid();
  lookup.outcome = Outcome::bypass;
  lookup.reason = reason;
  now->count(lookup);
  Problems ignored;
  if (auto local = now->local(ignored)) append_to_log(local->folder(), lookup);
  logging::write<"bypass: {}">(logging::Topic::cache, reason);
  if (now->config().strict) throw StrictError("bypassed: " + reason);
}

Stats stats() { return state()->stats(); }

void reset_stats() { state()->reset_stats(); }

void clear() {
  auto now = state();
  now->forget_memory();
  Problems problems;
  if (auto local = now->local(problems)) local->clear();
  now->settle(problems);
}

bool flush(double seconds) {
  Problems ignored;
  auto remote = state()->remote(ignored);
  return !remote || remote->flush(seconds);
}

}  // namespace fg::cache

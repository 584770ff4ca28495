// The state of this process's cache between calls. For cache.cpp and artifacts.cpp only.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/lock.h"
#include "cache/config.h"
#include "cache/local_store.h"
#include "cache/memory_layer.h"
#include "cache/remote.h"
#include "cache/stats.h"

namespace fg::cache {

// A failure: the reason under which it is counted, and the sentence of the warning.
struct Problem {
  std::string reason, sentence;
};
Problem problem_of(const std::exception& exception);

using Recorded = std::set<std::pair<Digest, std::string>>;  // key and name

class State {
 public:
  explicit State(const Config& config);

  const Config& config() const { return config_; }
  // The stores, opened by the first call. Null when off, or when unusable, with a problem added.
  std::shared_ptr<LocalStore> local(std::vector<Problem>& problems);
  std::shared_ptr<Remote> remote(std::vector<Problem>& problems);
  void forget_local();  // its folder was removed: the next call makes it anew

  std::vector<Candidate> in_memory(const Digest& key);
  // Keeps a hit or a new entry in memory and records it as one of the artifacts.
  void remember(const Digest& key, const Candidate& candidate);
  void forget_memory();

  // Counts the problems and warns of them; in strict mode the first one is an Error.
  void settle(const std::vector<Problem>& problems);
  void count(const Lookup& lookup);
  template <class F>
  auto with_stats(const F& f) {
    Locked<Lock> guard(lock_);
    return f(stats_);
  }
  Recorded recorded();
  Recorded exchange_recorded(Recorded other);
  void record(const Digest& key, const std::string& name);

  Stats stats();
  void reset_stats();
  void after_fork_in_child();
  Lock& lock() { return lock_; }

 private:
  void say(const Problem& problem);

  Config config_;
  Lock lock_;
  MemoryLayer memory_;
  Stats stats_;
  std::deque<Lookup> lookups_;
  Recorded recorded_;
  std::vector<std::string> said_;  // reasons
  std::shared_ptr<LocalStore> local_;
  std::shared_ptr<Remote> remote_;
  Problem local_problem_, remote_problem_;  // why a store is unusable
};

// The cache of this process as it is configured now.
std::shared_ptr<State> state();

}  // namespace fg::cache

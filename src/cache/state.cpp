#include "cache/state.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/log.h"
#include "base/standard_error.h"
#include "cache/cache.h"
#include "cache/folder.h"
#include "cache/secret.h"
#include "cache/unusable.h"

namespace fg::cache {
namespace {

constexpr size_t kMostLookups = 256;

const char* reason_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "disk full";
    case EROFS:
    case EACCES:
    case EPERM:
      return "read-only";
    default:
      return "file system";
  }
}

}  // namespace

Problem problem_of(const std::exception& exception) {
  if (const auto* unusable = dynamic_cast<const Unusable*>(&exception)) {
    return {unusable->reason(), exception.what()};
  }
  if (const auto* file = dynamic_cast<const FileError*>(&exception)) {
    return {reason_of(file->code()), exception.what()};
  }
  return {"unexpected", as_error(exception).what()};
}

// Paths mean the folder that is current now.
static Config with_absolute_paths(Config config) {
  try {
    for (std::string* path : {&config.directory, &config.key_directory, &config.shared_key}) {
      *path = absolute_path(*path);
    }
  } catch (const Unusable&) {  // reported when a path is needed
  }
  return config;
}

State::State(const Config& config)
    : config_(with_absolute_paths(config)), memory_(config.memory_limit) {}

std::shared_ptr<LocalStore> State::local(std::vector<Problem>& problems) {
  if (!config_.local || forced_off()) return nullptr;
  Locked<Lock> guard(lock_);
  if (local_ && local_->is_gone()) local_ = nullptr;
  if (!local_ && local_problem_.reason.empty()) {
    try {
      local_ = std::make_shared<LocalStore>(config_.directory, user_key(config_.key_directory),
                                            config_.size_limit);
    } catch (const std::exception& exception) {
      local_problem_ = problem_of(exception);
    }
  }
  if (!local_) problems.push_back(local_problem_);
  return local_;
}

void State::forget_local() {
  Locked<Lock> guard(lock_);
  local_ = nullptr;
}

std::shared_ptr<Remote> State::remote(std::vector<Problem>& problems) {
  if (!config_.remote || config_.remote_url.empty() || forced_off()) return nullptr;
  Locked<Lock> guard(lock_);
  if (!remote_ && remote_problem_.reason.empty()) {
    try {
      redis_address(config_.remote_url);  // throws now when the address is wrong
      auto open = [url = config_.remote_url, seconds = config_.remote_seconds] {
        return open_redis(url, seconds);
      };
      // The writer ends before this object does.
      Remote::Hooks hooks{
          [this](const std::exception& exception) { say(problem_of(exception)); },
          [this] { with_stats([](Stats& stats) { return ++stats.saved_remotely; }); }};
      remote_ =
          std::make_shared<Remote>(open, shared_key(config_.shared_key, "the remote cache"), hooks);
    } catch (const std::exception& exception) {
      remote_problem_ = problem_of(exception);
    }
  }
  if (!remote_) problems.push_back(remote_problem_);
  return remote_;
}

std::vector<Candidate> State::in_memory(const Digest& key) {
  Locked<Lock> guard(lock_);
  return memory_.of(key);
}

void State::remember(const Digest& key, const Candidate& candidate) {
  {
    Locked<Lock> guard(lock_);
    memory_.add(key, candidate);
  }
  record(key, candidate.name);
}

void State::forget_memory() {
  Locked<Lock> guard(lock_);
  memory_.clear();
}

void State::record(const Digest& key, const std::string& name) {
  Locked<Lock> guard(lock_);
  recorded_.emplace(key, name);
}

Recorded State::recorded() {
  Locked<Lock> guard(lock_);
  return recorded_;
}

Recorded State::exchange_recorded(Recorded other) {
  Locked<Lock> guard(lock_);
  return std::exchange(recorded_, std::move(other));
}

// Warns once per reason: a full disk would warn at every compilation otherwise. It writes straight
// to standard error, because warnings of other languages may be errors there.
void State::say(const Problem& problem) {
  bool first;
  {
    Locked<Lock> guard(lock_);
    stats_.failures[problem.reason]++;
    first = std::find(said_.begin(), said_.end(), problem.reason) == said_.end();
    if (first) said_.push_back(problem.reason);
  }
  if (first) {
    logging::write_line("warning", fmt::format("cache: {} (counted as \"{}\", said once)",
                                               problem.sentence, problem.reason));
  }
  logging::write<"{}: {}">(logging::Topic::cache, problem.reason, problem.sentence);
}

void State::settle(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) say(problem);
  if (config_.strict && !problems.empty()) {
    throw StrictError(problems[0].reason + ": " + problems[0].sentence);
  }
}

void State::count(const Lookup& lookup) {
  Locked<Lock> guard(lock_);
  switch (lookup.outcome) {
    case Outcome::memory_hit:
      stats_.memory_hits++;
      break;
    case Outcome::local_hit:
      stats_.local_hits++;
      break;
    case Outcome::remote_hit:
      stats_.remote_hits++;
      break;
    case Outcome::miss:
      stats_.misses++;
      break;
    case Outcome::guard_miss:
      stats_.guard_misses++;
      break;
    case Outcome::bypass:
      stats_.bypasses[lookup.reason]++;
      break;
  }
  stats_.waited += lookup.waited;
  lookups_.push_back(lookup);
  if (lookups_.size() > kMostLookups) lookups_.pop_front();
}

Stats State::stats() {
  Locked<Lock> guard(lock_);
  Stats result = stats_;
  result.lookups.assign(lookups_.begin(), lookups_.end());
  return result;
}

void State::reset_stats() {
  Locked<Lock> guard(lock_);
  stats_ = {};
  lookups_.clear();
}

// The thread that writes to the remote server is the parent's, and so are the entries that it has
// to send. The object stays in memory for ever, as its locks may be taken.
void State::after_fork_in_child() {
  if (remote_) new std::shared_ptr<Remote>(std::move(remote_));
  remote_ = nullptr;
}

namespace {

// Never destroyed: threads may still ask while the program ends.
struct Current {
  Lock lock;
  std::shared_ptr<State> state;
};
Current& current() {
  static Current& current = *new Current;
  return current;
}

void before_fork() {
  current().lock.lock();
  if (current().state) current().state->lock().lock();
}
void after_fork_in_parent() {
  if (current().state) current().state->lock().unlock();
  current().lock.unlock();
}
void after_fork_in_child() {
  if (current().state) current().state->after_fork_in_child();
  after_fork_in_parent();
}

void log_stats(const Stats& stats) {
  uint64_t bypasses = 0, failures = 0;
  for (const auto& [reason, count] : stats.bypasses) bypasses += count;
  for (const auto& [reason, count] : stats.failures) failures += count;
  logging::write<
      "this process: {} hits ({} in memory, {} local, {} remote), {} misses, {} saved, {} saved "
      "remotely, {} bypasses, {} failures">(
      logging::Topic::cache, stats.hits(), stats.memory_hits, stats.local_hits, stats.remote_hits,
      stats.misses + stats.guard_misses, stats.saved, stats.saved_remotely, bypasses, failures);
}

void send_the_rest() {
  if (!current().state) return;
  flush(2);
  if (logging::enabled(logging::Topic::cache)) log_stats(stats());
}

void prepare_once() {
  static const bool done =
      pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0 &&
      std::atexit(send_the_rest) == 0;
  (void)done;
}

}  // namespace

std::shared_ptr<State> state() {
  prepare_once();
  Locked<Lock> guard(current().lock);
  if (!current().state) current().state = std::make_shared<State>(config_from_settings());
  return current().state;
}

void configure(const Config& config) {
  prepare_once();
  auto made = std::make_shared<State>(config);
  Locked<Lock> guard(current().lock);
  current().state.swap(made);
}

}  // namespace fg::cache

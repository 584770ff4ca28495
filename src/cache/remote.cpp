#include "cache/remote.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <thread>

#include "cache/entry.h"
#include "cache/seal.h"
#include "cache/unusable.h"

namespace fg::cache {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kAbsentFor = 60s;
constexpr size_t kMostAbsent = 4096;
constexpr int kMostAttempts = 3;  // to send an entry
constexpr size_t kMostPendingBytes = size_t{256} << 20;
constexpr std::chrono::milliseconds kFirstRest = 500ms, kLongestRest = 60s;

}  // namespace

Remote::Remote(Open open, const SecretKey& shared, Hooks hooks)
    : open_(std::move(open)), shared_(shared), hooks_(std::move(hooks)) {}

Remote::~Remote() {
  std::unique_lock lock(state_);
  stop_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return !running_; });  // one question at most
}

bool Remote::resting() {
  std::lock_guard lock(state_);
  return Clock::now() < rest_until_;
}

void Remote::succeeded() {
  std::lock_guard lock(state_);
  rest_ = 0ms;
}

void Remote::failed(const std::exception& problem) {
  {
    std::lock_guard lock(state_);
    rest_ = std::clamp(rest_ * 2, kFirstRest, kLongestRest);
    rest_until_ = Clock::now() + rest_;
  }
  hooks_.report(Unusable("remote failed", fmt::format("the remote cache: {}", problem.what())));
}

bool Remote::visit(const Digest& key, const Visit& take) {
  std::lock_guard one(asking_);
  if (resting()) return false;
  {
    std::lock_guard lock(state_);
    auto known = absent_.find(key);
    if (known != absent_.end() && Clock::now() < known->second) return false;
  }
  std::vector<RemoteValue> values;
  try {
    if (!server_) server_ = open_();
    values = server_->get(hex(key));
    succeeded();
  } catch (const std::exception& problem) {
    failed(problem);
    return false;
  }
  for (const RemoteValue& value : values) {
    try {
      // The name is of its content: what a server calls it may be a path to somewhere else.
      Bytes content = open_sealed(value.sealed, key, shared_);
      if (take({name_of(unpack(content)), content})) return true;
    } catch (const Unusable& problem) {
      hooks_.report(problem);
    }
  }
  std::lock_guard lock(state_);
  if (absent_.size() >= kMostAbsent) absent_.clear();
  absent_[key] = Clock::now() + kAbsentFor;
  return false;
}

void Remote::write_later(const Digest& key, const std::string& name, const Bytes& content) {
  std::unique_lock lock(state_);
  absent_.erase(key);
  if (pending_bytes_ + content.size() > kMostPendingBytes) {
    lock.unlock();
    refuse("remote is behind", "the remote cache is too slow: an entry is not sent there");
  }
  pending_.push_back({key, name, content});
  pending_bytes_ += content.size();
  if (!running_) start_writer();
  changed_.notify_all();
}

// A thread that ends when it had nothing to do for a while. It takes no signals of the program.
void Remote::start_writer() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([this] { write_all(); }).detach();
    running_ = true;
  } catch (...) {
    pending_.clear();
    pending_bytes_ = 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Remote::write_all() {
  std::unique_ptr<RemoteServer> server;
  std::unique_lock lock(state_);
  while (changed_.wait_for(lock, 5s, [&] { return stop_ || !pending_.empty(); }) && !stop_) {
    if (Clock::now() < rest_until_) {
      changed_.wait_until(lock, rest_until_, [&] { return stop_; });
      continue;
    }
    Pending next = std::move(pending_.front());
    pending_.pop_front();
    writing_ = true;
    lock.unlock();
    write_one(server, std::move(next));
    lock.lock();
    writing_ = false;
    changed_.notify_all();
  }
  running_ = false;
  changed_.notify_all();
}

// Sends one entry. After a failure it is sent again when the server has rested, but not for ever.
void Remote::write_one(std::unique_ptr<RemoteServer>& server, Pending next) {
  bool again = false;
  try {
    if (!server) server = open_();
    write(*server, next);
    succeeded();
    hooks_.saved();
  } catch (const std::exception& problem) {
    failed(problem);
    again = ++next.failures < kMostAttempts;
  }
  std::lock_guard lock(state_);
  if (again) {
    pending_.push_front(std::move(next));
  } else {
    pending_bytes_ -= next.content.size();
  }
}

void Remote::write(RemoteServer& server, const Pending& pending) {
  std::string_view content = pending.content.view();
  Header header = seal(content, pending.key, shared_);
  std::string sealed(bytes_of(header));
  sealed += content;
  server.put(hex(pending.key), pending.name, sealed);
}

bool Remote::flush(double seconds) {
  std::unique_lock lock(state_);
  auto done = [&] { return pending_.empty() && !writing_; };
  changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                    [&] { return done() || (!writing_ && Clock::now() < rest_until_); });
  return done();
}

}  // namespace fg::cache

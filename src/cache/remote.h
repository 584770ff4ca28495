// The remote store as the cache uses it: it remembers for a while which keys the server does not
// have, leaves a failing server alone for longer and longer, and writes entries on a thread of its
// own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/digest.h"
#include "cache/local_store.h"
#include "cache/remote_server.h"

namespace fg::cache {

class Remote {
 public:
  using Open = std::function<std::unique_ptr<RemoteServer>()>;
  struct Hooks {  // called from any thread
    std::function<void(const std::exception&)> report;
    std::function<void()> saved;
  };
  Remote(Open open, const SecretKey& shared, Hooks hooks);
  ~Remote();  // entries not written yet are lost; see flush

  // False at once while the server rests, or when it had no entry for this key a moment ago.
  bool visit(const Digest& key, const Visit& take);
  void write_later(const Digest& key, const std::string& name, const Bytes& content);
  // Waits until all entries are written; false when that takes longer, or while the server rests.
  bool flush(double seconds);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Pending {
    Digest key;
    std::string name;
    Bytes content;
    int failures = 0;
  };
  bool resting();
  void succeeded();
  void failed(const std::exception& problem);
  void start_writer();
  void write_all();
  void write_one(std::unique_ptr<RemoteServer>& server, Pending next);
  void write(RemoteServer& server, const Pending& pending);

  Open open_;
  SecretKey shared_;
  Hooks hooks_;
  std::mutex asking_;  // one question at a time
  std::unique_ptr<RemoteServer> server_{};

  std::mutex state_;
  Time rest_until_{};
  std::chrono::milliseconds rest_{0};
  std::map<Digest, Time> absent_{};
  std::deque<Pending> pending_{};
  size_t pending_bytes_ = 0;
  bool writing_ = false, stop_ = false, running_ = false;
  std::condition_variable changed_{};
};

}  // namespace fg::cache

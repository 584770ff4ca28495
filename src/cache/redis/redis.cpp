// The remote store on Redis: a hash per key, with an entry per set of guards. hiredis writes the
// commands and reads the replies; the connection is ours, for its deadline and for TLS.
#include <hiredis/hiredis.h>

#include <memory>
#include <optional>

#include "base/fail.h"
#include "cache/key.h"
#include "cache/redis/connection.h"
#include "cache/remote_server.h"

namespace fg::cache {
namespace {

constexpr size_t kLargestReply = size_t{256} << 20;
constexpr int kMostElements = 4096, kMostDepth = 4;
constexpr const char* kLifetime = "2592000";  // seconds: 30 days without being written again

struct FreeReply {
  void operator()(void* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;
using Words = std::vector<std::string_view>;

std::string command(const Words& words) {
  std::vector<const char*> starts;
  std::vector<size_t> sizes;
  for (std::string_view word : words) {
    starts.push_back(word.data());
    sizes.push_back(word.size());
  }
  char* text = nullptr;
  long long size =
      redisFormatCommandArgv(&text, static_cast<int>(words.size()), starts.data(), sizes.data());
  if (size < 0) fail(ErrorKind::memory, "no memory for a command to Redis");
  std::string result(text, static_cast<size_t>(size));
  redisFreeCommand(text);
  return result;
}

// A server must not make us reserve memory for elements that it only announces, nor lists in lists
// without end.
const redisReplyObjectFunctions& usual_functions() {
  static const redisReplyObjectFunctions functions = [] {
    redisReader* reader = redisReaderCreate();
    if (!reader) fail(ErrorKind::memory, "no memory for a reply of Redis");
    redisReplyObjectFunctions found = *reader->fn;
    redisReaderFree(reader);
    return found;
  }();
  return functions;
}
template <class Count>
void* create_small_array(const redisReadTask* task, Count elements) {
  int depth = 0;  // replies are freed by recursion
  for (const redisReadTask* around = task; around; around = around->parent) depth++;
  if (elements > static_cast<Count>(kMostElements) || depth > kMostDepth) return nullptr;
  return usual_functions().createArray(task, elements);
}

class Replies {
 public:
  Replies() : functions_(usual_functions()), reader_(redisReaderCreate()) {
    if (!reader_) fail(ErrorKind::memory, "no memory for a reply of Redis");
    functions_.createArray = create_small_array;
    reader_->fn = &functions_;
  }
  ~Replies() { redisReaderFree(reader_); }
  Replies(const Replies&) = delete;

  Reply next(Connection& connection, Deadline deadline) {
    for (size_t received = 0;;) {
      void* reply = nullptr;
      if (redisReaderGetReply(reader_, &reply) != REDIS_OK) fail("{}", printable(reader_->errstr));
      if (reply) return checked(Reply(static_cast<redisReply*>(reply)));
      size_t got = connection.receive(room_, sizeof(room_), deadline);
      received += got;
      if (received > kLargestReply) fail("the reply is larger than {} bytes", kLargestReply);
      redisReaderFeed(reader_, room_, got);
    }
  }

 private:
  static Reply checked(Reply reply) {
    if (reply->type == REDIS_REPLY_ERROR) {
      fail("the server says: {}", printable(std::string_view(reply->str, reply->len)));
    }
    return reply;
  }

  redisReplyObjectFunctions functions_;
  redisReader* reader_;
  char room_[65536];
};

class Redis : public RemoteServer {
 public:
  Redis(const RedisAddress& address, double seconds) : address_(address), seconds_(seconds) {}

  std::vector<RemoteValue> get(const std::string& key) override {
    Reply reply = ask({{"HGETALL", name_of(key)}});
    if (reply->type != REDIS_REPLY_ARRAY) fail("the reply to HGETALL is no list");
    std::vector<RemoteValue> values;
    for (size_t i = 0; i + 1 < reply->elements; i += 2) {
      const redisReply &name = *reply->element[i], &value = *reply->element[i + 1];
      if (name.type != REDIS_REPLY_STRING || value.type != REDIS_REPLY_STRING) continue;
      values.push_back({{name.str, name.len}, {value.str, value.len}});
    }
    return values;
  }

  void put(const std::string& key, const std::string& name, std::string_view sealed) override {
    std::string at = name_of(key);
    ask({{"HSET", at, name, sealed}, {"EXPIRE", at, kLifetime}});
  }

 private:
  static std::string name_of(const std::string& key) { return "foregrad:1:" + key; }

  void connect(Deadline deadline) {
    connection_.emplace(address_, deadline);
    replies_.emplace();
    std::string database = std::to_string(address_.database);
    std::vector<Words> greetings;
    if (!address_.password.empty() && !address_.user.empty()) {
      greetings.push_back({"AUTH", address_.user, address_.password});
    } else if (!address_.password.empty()) {
      greetings.push_back({"AUTH", address_.password});
    }
    if (address_.database) greetings.push_back({"SELECT", database});
    exchange(greetings, deadline);
  }

  Reply exchange(const std::vector<Words>& commands, Deadline deadline) {
    std::string text;
    for (const Words& words : commands) text += command(words);
    connection_->send(text, deadline);
    Reply last;
    for (size_t i = 0; i < commands.size(); i++) last = replies_->next(*connection_, deadline);
    return last;
  }

  // The reply to the last command. A connection that was idle may have been closed by the server:
  // then once more on a new one. After a failure nothing of the old connection is read again.
  Reply ask(const std::vector<Words>& commands) {
    auto limit =
        std::chrono::duration_cast<Deadline::duration>(std::chrono::duration<double>(seconds_));
    Deadline deadline = std::chrono::steady_clock::now() + limit;
    for (bool used = connection_.has_value();; used = false) {
      try {
        if (!connection_) connect(deadline);
        return exchange(commands, deadline);
      } catch (...) {
        connection_.reset();
        replies_.reset();
        if (!used || std::chrono::steady_clock::now() >= deadline) throw;
      }
    }
  }

  RedisAddress address_;
  double seconds_;
  std::optional<Connection> connection_;
  std::optional<Replies> replies_;
};

}  // namespace
}  // namespace fg::cache

extern "C" __attribute__((visibility("default"))) fg::cache::RemoteServer* foregrad_open_redis(
    const fg::cache::RedisAddress* address, double seconds) {
  return new fg::cache::Redis(*address, seconds);
}

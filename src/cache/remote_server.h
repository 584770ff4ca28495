// A store of bytes on another machine. Its callers check the values that it returns.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fg::cache {

struct RemoteValue {
  std::string name, sealed;
};

// Every call ends within its time limit; an Error says what went wrong. One thread at a time.
class RemoteServer {
 public:
  virtual ~RemoteServer() = default;
  virtual std::vector<RemoteValue> get(const std::string& key) = 0;
  virtual void put(const std::string& key, const std::string& name, std::string_view sealed) = 0;
};

// redis://[[user]:password@]host[:port][/database]; rediss:// is the same through TLS.
struct RedisAddress {
  bool tls = false;
  std::string user, password, host;
  int port = 6379, database = 0;
};
RedisAddress redis_address(const std::string& url);

// Connects at the first question. The client is a library of its own, with hiredis and OpenSSL in
// it, which is loaded by the first call: most programs have no use for it.
std::unique_ptr<RemoteServer> open_redis(const std::string& url, double seconds);

}  // namespace fg::cache

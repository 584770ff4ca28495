// A connection that a deadline cuts off wherever it is: looking up the host's name apart, which the
// system limits, no slow server holds a program for longer.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <memory>
#include <string_view>

#include "base/file.h"
#include "cache/remote_server.h"

namespace fg::cache {

using Deadline = std::chrono::steady_clock::time_point;

class Connection {
 public:
  Connection(const RedisAddress& address, Deadline deadline);

  void send(std::string_view bytes, Deadline deadline);
  size_t receive(char* to, size_t room, Deadline deadline);  // at least one byte

 private:
  struct Free {
    void operator()(SSL* session) const { SSL_free(session); }
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  void start_tls(const RedisAddress& address, Deadline deadline);
  void wait(short events, Deadline deadline) const;
  // Waits for what TLS needs before the call that gave this result can be repeated.
  void wait_for_tls(int result, Deadline deadline) const;

  Descriptor socket_;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> session_;
};

}  // namespace fg::cache

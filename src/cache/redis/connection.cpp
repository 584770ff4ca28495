#include "cache/redis/connection.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/blocked_signal.h"
#include "base/fail.h"

namespace fg::cache {
namespace {

using std::chrono::milliseconds;

int milliseconds_left(Deadline deadline) {
  auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30));
}

struct Addresses {
  addrinfo* first = nullptr;
  ~Addresses() {
    if (first) freeaddrinfo(first);
  }
};

Descriptor start_connecting(const addrinfo& to) {
  Descriptor made(socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made) return made;
  int on = 1;
  setsockopt(made.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (connect(made.number(), to.ai_addr, to.ai_addrlen) && errno != EINPROGRESS) return {};
  return made;
}

int connection_error(int socket) {
  int error = 0;
  socklen_t size = sizeof(error);
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) ? errno : error;
}

std::string tls_error(SSL* session) {
  long verified = session ? SSL_get_verify_result(session) : X509_V_OK;
  if (verified != X509_V_OK) return X509_verify_cert_error_string(verified);
  char text[256] = "the connection was closed";
  if (unsigned long code = ERR_get_error()) ERR_error_string_n(code, text, sizeof(text));
  return text;
}

// OpenSSL writes without MSG_NOSIGNAL: a server that went away must not end the program.
struct NoBrokenPipe : BlockedSignal {
  NoBrokenPipe() : BlockedSignal(SIGPIPE) {}
};

}  // namespace

Connection::Connection(const RedisAddress& address, Deadline deadline) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  Addresses found;
  int problem = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted,
                            &found.first);
  if (problem) fail("the host {} is not found: {}", address.host, gai_strerror(problem));
  int error = 0;
  for (const addrinfo* at = found.first; at && !socket_; at = at->ai_next) {
    socket_ = start_connecting(*at);
    error = errno;
    if (!socket_) continue;
    wait(POLLOUT, deadline);
    error = connection_error(socket_.number());
    if (error) socket_ = Descriptor();
  }
  if (!socket_) {
    fail("no connection to {}:{}: {}", address.host, address.port, std::strerror(error));
  }
  if (address.tls) start_tls(address, deadline);
}

void Connection::start_tls(const RedisAddress& address, Deadline deadline) {
  // Entries may be sent while the program ends: OpenSSL must not be taken down before.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
  context_.reset(SSL_CTX_new(TLS_client_method()));
  if (!context_) fail("TLS: {}", tls_error(nullptr));
  SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_default_verify_paths(context_.get());  // SSL_CERT_FILE and SSL_CERT_DIR count
  session_.reset(SSL_new(context_.get()));
  if (!session_) fail("TLS: {}", tls_error(nullptr));
  X509_VERIFY_PARAM* checks = SSL_get0_param(session_.get());
  if (!X509_VERIFY_PARAM_set1_ip_asc(checks, address.host.c_str())) {
    X509_VERIFY_PARAM_set1_host(checks, address.host.c_str(), 0);
    SSL_set_tlsext_host_name(session_.get(), address.host.c_str());
  }
  SSL_set_fd(session_.get(), socket_.number());
  NoBrokenPipe guard;
  for (int result; (result = SSL_connect(session_.get())) != 1;) wait_for_tls(result, deadline);
}

void Connection::wait(short events, Deadline deadline) const {
  pollfd ready{socket_.number(), events, 0};
  for (;;) {
    int count = poll(&ready, 1, milliseconds_left(deadline));
    if (count > 0) return;
    if (count == 0) fail("the server did not answer in time");
    if (errno != EINTR) fail("poll: {}", std::strerror(errno));
  }
}

void Connection::wait_for_tls(int result, Deadline deadline) const {
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return wait(POLLIN, deadline);
    case SSL_ERROR_WANT_WRITE:
      return wait(POLLOUT, deadline);
    default:
      fail("TLS: {}", tls_error(session_.get()));
  }
}

void Connection::send(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (session_) {
      NoBrokenPipe guard;
      int size = static_cast<int>(std::min<size_t>(bytes.size(), 1 << 20));
      int sent = SSL_write(session_.get(), bytes.data(), size);
      sent > 0 ? bytes.remove_prefix(static_cast<size_t>(sent)) : wait_for_tls(sent, deadline);
      continue;
    }
    ssize_t sent = ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
    if (sent >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN) fail("sending: {}", std::strerror(errno));
    wait(POLLOUT, deadline);
  }
}

size_t Connection::receive(char* to, size_t room, Deadline deadline) {
  for (;;) {
    if (milliseconds_left(deadline) == 0) fail("the server did not answer in time");
    if (session_) {
      NoBrokenPipe guard;
      int got = SSL_read(session_.get(), to, static_cast<int>(std::min<size_t>(room, 1 << 20)));
      if (got > 0) return static_cast<size_t>(got);
      wait_for_tls(got, deadline);
      continue;
    }
    ssize_t got = recv(socket_.number(), to, room, 0);
    if (got > 0) return static_cast<size_t>(got);
    if (got == 0) fail("the server closed the connection");
    if (errno == EINTR) continue;
    if (errno != EAGAIN) fail("receiving: {}", std::strerror(errno));
    wait(POLLIN, deadline);
  }
}

}  // namespace fg::cache

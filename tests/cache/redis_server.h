// A real redis-server on a free port, and servers that misbehave.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

inline int listen_somewhere(int& port) {
  int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(made, reinterpret_cast<sockaddr*>(&address), size);
  listen(made, 16);
  getsockname(made, reinterpret_cast<sockaddr*>(&address), &size);
  port = ntohs(address.sin_port);
  return made;
}

inline int free_port() {
  int port = 0;
  close(listen_somewhere(port));
  return port;
}

inline bool answers(int port) {
  int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  bool connected = connect(made, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(made);
  return connected;
}

class RedisServer {
 public:
  explicit RedisServer(std::vector<std::string> options = {}) : options_(std::move(options)) {
    folder_ = mkdtemp(name_);
    start();
  }
  virtual ~RedisServer() {
    stop();
    std::filesystem::remove_all(folder_);
  }
  RedisServer(const RedisServer&) = delete;

  static bool installed() { return system("command -v redis-server >/dev/null") == 0; }

  void start() {
    std::vector<std::string> words = {"redis-server", "--bind", "127.0.0.1",   "--save", "",
                                      "--dir",        folder_,  "--daemonize", "no"};
    if (!has_port_) words.insert(words.end(), {"--port", std::to_string(port_)});
    words.insert(words.end(), options_.begin(), options_.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (!freopen("/dev/null", "w", stdout)) _exit(1);
      execvp("redis-server", arguments.data());
      _exit(127);
    }
    for (int i = 0; i < 1000 && !answers(port_); i++) usleep(10000);
  }
  void stop() {  // at once, as a machine that loses power
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  std::string url(const std::string& user = "", const std::string& database = "") const {
    return scheme_ + user + "127.0.0.1:" + std::to_string(port_) + database;
  }

 protected:
  RedisServer(int port, const std::string& scheme) : port_(port), scheme_(scheme) {
    has_port_ = true;
    folder_ = mkdtemp(name_);
  }

  char name_[32] = "/tmp/foregrad-redis-XXXXXX";
  std::string folder_;
  std::vector<std::string> options_;
  int port_ = free_port();
  std::string scheme_ = "redis://";
  bool has_port_ = false;
  pid_t process_ = 0;
};

// A server with a certificate of its own; only clients that are given the certificate trust it.
class TlsRedisServer : public RedisServer {
 public:
  TlsRedisServer() : RedisServer(free_port(), "rediss://") {
    std::string command =
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -addext "
        "subjectAltName=IP:127.0.0.1 -keyout " +
        folder_ + "/key -out " + certificate() + " 2>/dev/null";
    if (system(command.c_str()) != 0) abort();
    options_ = {"--port",
                "0",
                "--tls-port",
                std::to_string(port_),
                "--tls-cert-file",
                certificate(),
                "--tls-key-file",
                folder_ + "/key",
                "--tls-ca-cert-file",
                certificate(),
                "--tls-auth-clients",
                "no"};
    start();
  }
  static bool installed() { return system("command -v openssl >/dev/null") == 0; }
  std::string certificate() const { return folder_ + "/certificate"; }
};

// Answers every connection in its own way.
class FakeServer {
 public:
  explicit FakeServer(std::function<void(int socket)> answer) {
    listening_ = listen_somewhere(port_);
    thread_ = std::thread([this, answer] {
      signal(SIGPIPE, SIG_IGN);
      for (int made; (made = accept(listening_, nullptr, nullptr)) >= 0;) {
        char question[4096];
        if (!stop_ && read(made, question, sizeof(question)) > 0) answer(made);
        close(made);
      }
    });
  }
  ~FakeServer() {
    stop_ = true;
    shutdown(listening_, SHUT_RDWR);
    thread_.join();
    close(listening_);
  }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

 private:
  int port_ = 0, listening_ = -1;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

#include "cache/remote_server.h"

#include <dlfcn.h>

#include <charconv>

#include "base/library.h"
#include "cache/unusable.h"

namespace fg::cache {
namespace {

constexpr const char* kExpected = "expected redis://user:password@host:port/database, or rediss://";

// The password is not repeated in the sentence.
[[noreturn]] void fail_address(const char* what) {
  refuse("remote address", "FOREGRAD_CACHE_REMOTE: {} is not understood; {}", what, kExpected);
}

std::string decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); i++) {
    int code = 0;
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (i + 2 >= text.size()) fail_address("a % at the end");
    auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, code, 16);
    if (error != std::errc() || end != text.data() + i + 3) fail_address("what follows a %");
    result += static_cast<char>(code);
    i += 2;
  }
  return result;
}

int number(std::string_view text, int limit, const char* what) {
  int value = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool all = error == std::errc() && end == text.data() + text.size();
  if (!all || value < 0 || value > limit) fail_address(what);
  return value;
}

void read_user(std::string_view text, RedisAddress& address) {
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) {  // as other clients: only a user
    address.user = decoded(text);
    return;
  }
  address.user = decoded(text.substr(0, colon));
  address.password = decoded(text.substr(colon + 1));
}

// host, host:port, [1:2::3]:port
void read_host(std::string_view text, RedisAddress& address) {
  size_t end = text.starts_with('[') ? text.find(']') : text.find(':');
  if (text.starts_with('[')) {
    if (end == std::string_view::npos) fail_address("the host");
    address.host = text.substr(1, end - 1);
    end++;
  } else {
    address.host = text.substr(0, end);
  }
  if (address.host.empty()) fail_address("the host");
  if (end >= text.size()) return;
  if (text[end] != ':') fail_address("the host");
  address.port = number(text.substr(end + 1), 65535, "the port");
}

}  // namespace

RedisAddress redis_address(const std::string& url) {
  RedisAddress address;
  std::string_view rest = url;
  address.tls = rest.starts_with("rediss://");
  if (!address.tls && !rest.starts_with("redis://")) fail_address("the part before ://");
  rest.remove_prefix(rest.find("//") + 2);
  if (size_t slash = rest.find('/'); slash != std::string_view::npos) {
    if (slash + 1 < rest.size()) {
      address.database = number(rest.substr(slash + 1), 1 << 20, "the database");
    }
    rest = rest.substr(0, slash);
  }
  if (size_t at = rest.rfind('@'); at != std::string_view::npos) {
    read_user(rest.substr(0, at), address);
    rest.remove_prefix(at + 1);
  }
  read_host(rest, address);
  return address;
}

std::unique_ptr<RemoteServer> open_redis(const std::string& url, double seconds) {
  using Open = RemoteServer* (*)(const RedisAddress*, double);
  RedisAddress address = redis_address(url);
  static Open open = [] {
    void* handle =
        dlopen(beside_this_library("libforegrad-redis.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      refuse("no client", "the client of the remote cache cannot be loaded: {}", dlerror());
    return reinterpret_cast<Open>(dlsym(handle, "foregrad_open_redis"));
  }();
  return std::unique_ptr<RemoteServer>(open(&address, seconds));
}

}  // namespace fg::cache

#include "cache/secret.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "cache/folder.h"
#include "cache/unusable.h"

namespace fg::cache {
namespace {

constexpr size_t kLargestKeyFile = 65536;

enum class Owner : uint8_t { user, user_or_root };  // root hands out secrets that are shared

void check(const struct stat& status, const std::string& path, Owner owner) {
  if (!S_ISREG(status.st_mode)) {
    refuse("key file", "the key file {} is no plain file; remove it, or name another", path);
  }
  bool ours = status.st_uid == geteuid() || (owner == Owner::user_or_root && status.st_uid == 0);
  if (!ours) {
    refuse("key file", "the key file {} belongs to user {}; expected yours ({})", path,
           status.st_uid, geteuid());
  }
  if (status.st_mode & 077) {
    refuse("key file", "the key file {} has mode {:o}; expected 600: chmod 600 {}", path,
           status.st_mode & 0777, path);
  }
}

std::string read_checked(const Descriptor& file, const std::string& path, Owner owner) {
  struct stat status;
  if (fstat(file.number(), &status)) fail_file("read", path, errno);
  check(status, path, owner);
  auto size = static_cast<size_t>(status.st_size);
  if (size < sizeof(SecretKey) || size > kLargestKeyFile) {
    refuse("key file", "the key file {} has {} bytes; expected 32 or more random ones", path, size);
  }
  std::string text(size, '\0');
  if (!read_at(file.number(), text.data(), size, 0)) fail_file("read", path, errno);
  return text;
}

// A key file may be of any form: 32 random bytes, or a line of hexadecimal digits.
SecretKey key_from(const std::string& text) {
  return Hasher().add("foregrad secret 1").add(text).finish();
}

Descriptor open_key(int folder) {
  return Descriptor(openat(folder, kUserKeyFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

}  // namespace

SecretKey user_key(const std::string& directory) {
  Descriptor folder = open_private_folder(directory, "the folder of the cache's key");
  std::string path = directory + "/" + kUserKeyFile;
  Descriptor file = open_key(folder.number());
  if (!file && errno == ENOENT) {
    SecretKey made = random_key();
    // One of several processes that come here gives its key the name; all read that one.
    write_file(folder.number(), kUserKeyFile, {raw_bytes(made)}, Existing::keep, Durable{true});
    file = open_key(folder.number());
  }
  if (!file) {
    refuse("key file", "the key file {} cannot be opened: {}", path, std::strerror(errno));
  }
  return key_from(read_checked(file, path, Owner::user));
}

SecretKey shared_key(const std::string& path, const char* purpose) {
  constexpr const char* kRemedy =
      "make one with `(umask 77; head -c 32 /dev/urandom > FILE)`, give it to those who share, and "
      "name it with --key FILE or FOREGRAD_CACHE_KEY";
  if (path.empty()) refuse("no shared key", "{} needs a shared key: {}", purpose, kRemedy);
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    refuse("no shared key", "{}: the shared key {} cannot be read: {}; {}", purpose, path,
           std::strerror(errno), kRemedy);
  }
  return key_from(read_checked(file, path, Owner::user_or_root));
}

}  // namespace fg::cache

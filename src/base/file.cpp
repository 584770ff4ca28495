#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/blocked_signal.h"
#include "base/digest.h"
#include "base/fail.h"

namespace fg {

void (*before_write_step)(const char* step) = nullptr;

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Bytes::Bytes(size_t size)
    : data_(std::make_shared_for_overwrite<char[]>(size ? size : 1)), size_(size) {}

Bytes::Bytes(std::string_view copied) : Bytes(copied.size()) {
  if (size_) std::memcpy(data_.get(), copied.data(), size_);
}

bool read_at(int file, char* to, size_t size, size_t offset) {
  for (size_t done = 0; done < size;) {
    ssize_t count = pread(file, to + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = 0;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

bool write_all(int file, std::string_view bytes) {
  BlockedSignal file_too_large(SIGXFSZ);
  while (!bytes.empty()) {
    ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

Descriptor open_plain(int folder, const std::string& path, int flags, unsigned mode) {
  Descriptor file(openat(folder, path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode));
  if (!file) {  // a socket, a pipe without a reader, a folder
    if (errno == ENXIO || errno == EISDIR) errno = kNotPlain;
    return file;
  }
  struct stat status;
  if (fstat(file.number(), &status)) return {};
  if (!S_ISREG(status.st_mode)) {
    errno = kNotPlain;
    return {};
  }
  unsigned taken = mode & 0700 & ~status.st_mode;  // by the umask
  if ((flags & O_CREAT) && taken && status.st_uid == geteuid()) {
    fchmod(file.number(), (status.st_mode & 0777) | taken);
  }
  return file;
}

bool make_private_folder(int parent, const std::string& name) {
  if (mkdirat(parent, name.c_str(), 0700)) return false;
  // Not by its name, which may be another one's by now.
  Descriptor made(openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status;
  if (!made || fstat(made.number(), &status)) return false;
  if ((status.st_mode & 0700) == 0700) return true;
  return chmod(fmt::format("/proc/self/fd/{}", made.number()).c_str(), 0700) == 0 ||
         fchmodat(parent, name.c_str(), 0700, 0) == 0;  // without /proc
}

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* listing = copy >= 0 ? fdopendir(copy) : nullptr;
  if (!listing) {
    if (copy >= 0) close(copy);
    return names;
  }
  while (const dirent* entry = readdir(listing)) {
    std::string_view found = entry->d_name;
    if (found != "." && found != "..") names.emplace_back(found);
  }
  closedir(listing);
  std::sort(names.begin(), names.end());
  return names;
}

static bool remove_to_depth(int folder, const std::string& name, int depth) {
  if (unlinkat(folder, name.c_str(), 0) == 0) return true;
  if ((errno != EISDIR && errno != EPERM) || depth == 0) return false;
  if (unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) return true;
  Descriptor inside(openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!inside) return false;
  for (const std::string& each : names_in(inside.number())) {
    remove_to_depth(inside.number(), each, depth - 1);
  }
  return unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0;
}

bool remove_anything(int folder, const std::string& name) {
  constexpr int kDepth = 64;  // each level keeps a folder open
  return remove_to_depth(folder, name, kDepth);
}

const char* file_problem(int code) {
  if (code == 0) return "it is too short";
  if (code == ENXIO) return "it is a pipe that no program reads";
  return code == kNotPlain ? "it is not a plain file" : std::strerror(code);
}

void fail_file(const char* what, const std::string& path, int error) {
  throw FileError(fmt::format("cannot {} {}: {}", what, path, file_problem(error)), error);
}

std::string read_file(const std::string& path, size_t limit) {
  Descriptor file = open_plain(AT_FDCWD, path, O_RDONLY);
  struct stat status;
  if (!file || fstat(file.number(), &status)) fail_file("read", path, errno);
  auto size = static_cast<size_t>(status.st_size);
  if (size > limit) fail("cannot read {}: it has {} bytes; expected at most {}", path, size, limit);
  std::string text(size, '\0');
  if (!read_at(file.number(), text.data(), size, 0)) fail_file("read", path, errno);
  return text;
}

namespace {

// No other thread, process or machine has this name.
std::string temporary_name() {
  static std::atomic<uint64_t> count{0};
  SecretKey random = random_key();
  uint32_t some;
  std::memcpy(&some, random.data(), sizeof(some));
  return fmt::format("{}{}-{}-{:08x}", kTemporary, getpid(), count++, some);
}

// Removes the file unless it got its name.
struct Temporary {
  int folder;
  std::string name = temporary_name();
  bool there = false;
  ~Temporary() {
    if (there) unlinkat(folder, name.c_str(), 0);
  }
};

void write_parts(int folder, Temporary& temporary, std::initializer_list<std::string_view> parts,
                 bool durable) {
  write_step("create");
  Descriptor file = open_plain(folder, temporary.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!file) fail_file("create", temporary.name, errno);
  temporary.there = true;
  for (std::string_view part : parts) {
    write_step("write");
    if (!write_all(file.number(), part)) fail_file("write", temporary.name, errno);
  }
  if (durable && fsync(file.number())) fail_file("write", temporary.name, errno);
  // Some file systems say only now that they are full.
  if (close(file.release())) fail_file("write", temporary.name, errno);
}

}  // namespace

bool write_file(int folder, const std::string& name, std::initializer_list<std::string_view> parts,
                Existing existing, Durable durable) {
  Temporary temporary{folder};
  write_parts(folder, temporary, parts, durable.value);
  write_step("name");
  if (existing == Existing::keep) {  // a link, unlike a renamed file, never takes another's place
    if (linkat(folder, temporary.name.c_str(), folder, name.c_str(), 0) == 0) return true;
    if (errno == EEXIST) return false;
    if (errno != EPERM && errno != EOPNOTSUPP) fail_file("name", name, errno);
    // A file system without links may have this.
    if (renameat2(folder, temporary.name.c_str(), folder, name.c_str(), RENAME_NOREPLACE) == 0) {
      temporary.there = false;
      return true;
    }
    if (errno == EEXIST) return false;
    fail_file("name", name, errno);
  }
  if (renameat(folder, temporary.name.c_str(), folder, name.c_str())) {
    fail_file("name", name, errno);
  }
  temporary.there = false;
  return true;
}

}  // namespace fg

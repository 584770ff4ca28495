#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "base/blocked_signal.h"
#include "base/fail.h"
#include "base/file.h"

namespace fg {

namespace {

constexpr int kMostLinks = 40;
constexpr size_t kLongestName = 200;  // of 255, so that there is room for what makes it unique

// No two files of one moment have the same name, also in other processes.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  size_t name = path.rfind('/') + 1;  // 0 without a slash
  return fmt::format("{}.{}-{}.tmp", path.substr(0, name + kLongestName), getpid(), count++);
}

// Follows a link to its target, whether that is there or not: the link stays.
std::string target_of(std::string path) {
  for (int links = 0; links <= kMostLinks; links++) {
    std::error_code none;
    std::filesystem::path to = std::filesystem::read_symlink(path, none);
    if (none) return path;
    path = std::filesystem::path(path).parent_path() / to;
  }
  return path;  // a circle, which was refused before
}

// The new name is on the disk only when its folder is.
void sync_folder(const std::string& path) {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened) fsync(opened.number());  // some file systems have no folders to sync
}

}  // namespace

AtomicFile::AtomicFile(std::string path, unsigned mode) : path_(std::move(path)) {
  struct stat there;
  bool exists = stat(path_.c_str(), &there) == 0;
  if (!exists && errno == ELOOP) fail_with("opened for writing");
  if (exists && !S_ISREG(there.st_mode)) {
    open_special(there.st_mode);
    return;
  }
  target_ = target_of(path_);
  temporary_ = temporary_name(target_);
  file_ = Descriptor(open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file_) fail_with("opened for writing");
  if (exists) fchmod(file_.number(), there.st_mode & 0777);
}

// Pipes and terminals are written to as they are: another file must not take their names. A pipe
// without a reader is refused, not waited for.
void AtomicFile::open_special(unsigned mode) {
  errno = S_ISDIR(mode) ? EISDIR : kNotPlain;
  if (!S_ISFIFO(mode) && !S_ISCHR(mode)) fail_with("opened for writing");
  constexpr int kFlags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  file_ = Descriptor(open(path_.c_str(), kFlags));
  if (!file_) fail_with("opened for writing");
  fcntl(file_.number(), F_SETFL, O_WRONLY);
}

AtomicFile::~AtomicFile() {
  if (file_ && !temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::fail_with(const char* what) const {
  int error = errno;
  throw FileError(fmt::format("'{}' cannot be {}: {}", path_, what, file_problem(error)), error);
}

void AtomicFile::write(const void* data, size_t size) {
  BlockedSignal reader_is_gone(SIGPIPE);
  if (!write_all(file_.number(), {static_cast<const char*>(data), size})) fail_with("written");
}

void AtomicFile::commit() {
  if (temporary_.empty()) {
    file_ = Descriptor();
    return;
  }
  if (fsync(file_.number()) != 0) fail_with("brought to the disk");
  // Some file systems say only when a file is closed that they are full.
  const char* failed = nullptr;
  if (close(file_.release()) != 0) {
    failed = "written";
  } else if (rename(temporary_.c_str(), target_.c_str()) != 0) {
    failed = "renamed to";
  }
  if (failed) {
    int error = errno;
    unlink(temporary_.c_str());
    errno = error;
    fail_with(failed);
  }
  sync_folder(target_);
}

}  // namespace fg

#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/fail.h"

namespace fg {

namespace {

// No two files of one moment have the same name, also in other processes.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return fmt::format("{}.{}-{}.tmp", path, getpid(), count++);
}

// The new name is on the disk only when its folder is.
void sync_folder(const std::string& path) {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);  // some file systems have no folders to sync
  close(descriptor);
}

}  // namespace

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), temporary_(temporary_name(path_)) {
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_with("opened for writing");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
}

void AtomicFile::fail_with(const char* what) const {
  int error = errno;
  fail("'{}' cannot be {}: {}", path_, what, std::strerror(error));
}

void AtomicFile::write(const void* data, size_t size) {
  const char* next = static_cast<const char*>(data);
  while (size > 0) {
    ssize_t count = ::write(descriptor_, next, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with("written");
    next += count;
    size -= static_cast<size_t>(count);
  }
}

void AtomicFile::commit() {
  if (fsync(descriptor_) != 0) fail_with("brought to the disk");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail_with("renamed to");
  close(descriptor_);
  descriptor_ = -1;
  sync_folder(path_);
}

}  // namespace fg

#include "codegen/code_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/fail.h"

namespace fg::codegen {
namespace {

// Closed when it goes out of scope.
struct Descriptor {
  int number;
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return number >= 0; }
  void reset() {
    if (number >= 0) close(number);
    number = -1;
  }
};

bool write_all(int file, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno != EINTR) return false;
    done += count > 0 ? static_cast<size_t>(count) : 0;
  }
  return true;
}

bool holds(int file, const std::string& bytes) {
  std::string read(bytes.size() + 1, '\0');  // one more: a longer file is another one
  size_t done = 0;
  for (ssize_t count = 1; count != 0 && done < read.size();) {
    count = pread(file, read.data() + done, read.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno != EINTR) return false;
    done += count > 0 ? static_cast<size_t>(count) : 0;
  }
  return done == bytes.size() && std::memcmp(read.data(), bytes.data(), done) == 0;
}

// The loader takes equal paths for one library: each of ours has a number.
uint64_t next_number() {
  static std::atomic<uint64_t> libraries{0};
  return libraries++;
}

// Descriptors are used again: the number is spelled by slashes and dots that mean nothing.
std::string unique_path(int descriptor) {
  std::string path = "/proc/self/fd";
  for (uint64_t number = next_number(); number > 0; number /= 2) path += number % 2 ? "/." : "/";
  return path + "/" + std::to_string(descriptor);
}

void* load_from_memory(const std::string& bytes) {
  Descriptor file(memfd_create("foregrad-code", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || !write_all(file.number, bytes)) return nullptr;
  fcntl(file.number, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
  return dlopen(unique_path(file.number).c_str(), RTLD_NOW | RTLD_LOCAL);
}

// A new folder that only this user can enter, and in it one file; both go with this.
class PrivateFile {
 public:
  explicit PrivateFile(const std::string& parent)
      : folder_(parent + "/foregrad-XXXXXX"),
        // The number is for the loader, the random letters are for other processes.
        name_("code-" + std::to_string(next_number()) + ".so"),
        made_(mkdtemp(folder_.data()) != nullptr),  // mode 0700, an error if it is there already
        inside_(made_ ? open(folder_.c_str(), O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1) {}
  ~PrivateFile() {
    if (inside_) unlinkat(inside_.number, name_.c_str(), 0);
    if (made_) rmdir(folder_.c_str());
  }
  PrivateFile(const PrivateFile&) = delete;
  PrivateFile& operator=(const PrivateFile&) = delete;

  std::string path() const { return folder_ + "/" + name_; }

  // Whether the file has these bytes, nobody can write them, and the path still leads to it.
  bool fill(const std::string& bytes) {
    if (!inside_) return false;
    errno = EIO;  // of what fails without a reason of the system's
    if (!is_ours()) return false;
    Descriptor written(openat(inside_.number, name_.c_str(),
                              O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!written || !write_all(written.number, bytes) || fchmod(written.number, 0400) != 0)
      return false;
    Descriptor read(open(path().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!read || !same(written.number, read.number)) return false;
    written.reset();
    return holds(read.number, bytes);
  }

 private:
  bool is_ours() const {
    struct stat folder{};
    return fstat(inside_.number, &folder) == 0 && folder.st_uid == geteuid() &&
           (folder.st_mode & 0777) == 0700;
  }
  static bool same(int a, int b) {
    struct stat first{}, second{};
    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
  }

  std::string folder_, name_;
  bool made_;
  Descriptor inside_;
};

void* load_from_temporary(const std::string& bytes) {
  const char* chosen = std::getenv("TMPDIR");
  std::string parent = chosen && *chosen ? chosen : "/tmp";
  PrivateFile file(parent);
  if (!file.fill(bytes))
    fail(
        "compiled code cannot be loaded: a private file in {} cannot be made ({}); set TMPDIR to "
        "a folder where files can be written and executed",
        parent, std::strerror(errno));
  void* handle = dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    fail(
        "compiled code cannot be loaded: {}; set TMPDIR to a folder where files can be written "
        "and executed",
        dlerror());
  return handle;
}

}  // namespace

void* load_code(const std::string& bytes, CodeFile first) {
  void* handle = first == CodeFile::memory ? load_from_memory(bytes) : nullptr;
  return handle ? handle : load_from_temporary(bytes);
}

}  // namespace fg::codegen

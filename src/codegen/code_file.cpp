#include "codegen/code_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/environment.h"
#include "base/fail.h"
#include "base/file.h"
#include "codegen/scratch.h"

namespace fg::codegen {
namespace {

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
  if (!file || !write_all(file.number(), bytes)) return nullptr;
  fcntl(file.number(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
  return dlopen(unique_path(file.number()).c_str(), RTLD_NOW | RTLD_LOCAL);
}

bool same(int a, int b) {
  struct stat first{}, second{};
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// Whether a new file of the folder holds these bytes, is read-only, and is the one that the path
// leads to.
bool fill(const Scratch& folder, const std::string& name, const std::string& bytes) {
  errno = EIO;  // of what fails without a reason of the system's
  Descriptor written =
      open_plain(folder.number(), name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!written || !write_all(written.number(), bytes) || fchmod(written.number(), 0400) != 0)
    return false;
  Descriptor read = open_plain(AT_FDCWD, folder.path(name), O_RDONLY | O_NOFOLLOW);
  if (!read || !same(written.number(), read.number())) return false;
  written = Descriptor();
  return holds(read.number(), bytes);
}

void* load_from_temporary(const std::string& bytes) {
  constexpr const char* kRemedy = "set TMPDIR to a folder where files can be written and executed";
  Scratch folder;
  // The number is for the loader, the folder's random letters are for other processes.
  std::string name = "code-" + std::to_string(next_number()) + ".so";
  if (!folder || !fill(folder, name, bytes)) {
    fail("compiled code cannot be loaded: a private file in {} cannot be made ({}); {}",
         temporary_folder(), std::strerror(errno), kRemedy);
  }
  void* handle = dlopen(folder.path(name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail("compiled code cannot be loaded: {}; {}", dlerror(), kRemedy);
  return handle;
}

}  // namespace

void* load_code(const std::string& bytes, CodeFile first) {
  void* handle = first == CodeFile::memory ? load_from_memory(bytes) : nullptr;
  return handle ? handle : load_from_temporary(bytes);
}

}  // namespace fg::codegen

#include "codegen/scratch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>

#include "base/digest.h"
#include "base/environment.h"

namespace fg::codegen {
namespace {

constexpr std::string_view kPrefix = "foregrad-code-";
constexpr size_t kDigits = 16;
constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

bool is_name_of_ours(std::string_view name) {
  return name.size() == kPrefix.size() + kDigits && name.starts_with(kPrefix) &&
         name.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

bool is_of_this_user(int file) {
  struct stat status;
  return fstat(file, &status) == 0 && status.st_uid == geteuid();
}

bool has_name(int parent, const std::string& name, int folder) {
  struct stat named, opened;
  return fstatat(parent, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         fstat(folder, &opened) == 0 && named.st_dev == opened.st_dev &&
         named.st_ino == opened.st_ino;
}

// A folder without a lock belonged to a process that has ended: the system releases its locks. A
// process number would not do: another process may have it by now.
void remove_stale(int parent) {
  for (const std::string& name : names_in(parent)) {
    if (!is_name_of_ours(name)) continue;
    Descriptor folder(openat(parent, name.c_str(), kFolder));
    if (!folder || !is_of_this_user(folder.number())) continue;
    if (flock(folder.number(), LOCK_EX | LOCK_NB) == 0) remove_anything(parent, name);
  }
}

}  // namespace

std::string temporary_folder() {
  const char* chosen = environment("TMPDIR");
  return chosen && *chosen ? chosen : "/tmp";
}

// False when another process took it for a stale one before it was locked.
bool Scratch::make(const std::string& name) {
  if (!make_private_folder(parent_.number(), name)) return false;
  Descriptor made(openat(parent_.number(), name.c_str(), kFolder));
  if (!made) return false;
  errno = EAGAIN;
  if (!is_of_this_user(made.number())) return false;
  // A file system without locks has no process that removes stale folders either.
  if (flock(made.number(), LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) return false;
  if (!has_name(parent_.number(), name, made.number())) return false;
  folder_ = std::move(made);
  name_ = name;
  return true;
}

Scratch::Scratch()
    : place_(temporary_folder()),
      parent_(open(place_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!parent_) return;
  static std::atomic<pid_t> tidied_by = 0;  // once is enough
  if (tidied_by.exchange(getpid()) != getpid()) remove_stale(parent_.number());
  for (int attempt = 0; attempt < 8 && !folder_; attempt++) {
    if (make(std::string(kPrefix) + hex(random_key()).substr(0, kDigits))) return;
    if (errno != EEXIST && errno != EAGAIN && errno != ENOENT) return;
  }
}

Scratch::~Scratch() {
  if (folder_) remove_anything(parent_.number(), name_);
}

std::string Scratch::path(const std::string& name) const {
  return place_ + "/" + name_ + "/" + name;
}

}  // namespace fg::codegen

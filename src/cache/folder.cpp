#include "cache/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cache/unusable.h"

namespace fg::cache {
namespace {

void make_folders(const std::string& path, const char* what) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    mkdir(path.substr(0, at).c_str(), 0700);  // the last one says what is wrong
  }
  if (mkdir(path.c_str(), 0700) && errno != EEXIST) {
    refuse("no folder", "{} {} cannot be made: {}", what, path, std::strerror(errno));
  }
}

void check(const struct stat& status, const std::string& path, const char* what) {
  if (status.st_uid != geteuid()) {
    refuse("foreign folder", "{} {} belongs to user {}; expected yours ({})", what, path,
           status.st_uid, geteuid());
  }
  if (status.st_mode & 077) {
    refuse("open folder", "{} {} has mode {:o}; expected 700: chmod 700 {}", what, path,
           status.st_mode & 0777, path);
  }
}

}  // namespace

Descriptor open_existing_private_folder(const std::string& path, const char* what) {
  struct stat link;
  if (lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode) && link.st_uid != geteuid()) {
    refuse("foreign folder", "{} {} is a symbolic link of user {}; expected yours ({})", what, path,
           link.st_uid, geteuid());
  }
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder && errno == ENOENT) return folder;
  struct stat status;
  if (!folder || fstat(folder.number(), &status)) {
    refuse("no folder", "{} {} cannot be opened: {}", what, path, std::strerror(errno));
  }
  check(status, path, what);
  return folder;
}

Descriptor open_private_folder(const std::string& path, const char* what) {
  if (path.empty()) refuse("no folder", "{} has no place: there is no home directory", what);
  std::string whole = std::filesystem::absolute(path);
  if (Descriptor folder = open_existing_private_folder(whole, what)) return folder;
  make_folders(whole, what);
  Descriptor folder = open_existing_private_folder(whole, what);
  if (!folder) refuse("no folder", "{} {} cannot be made", what, whole);
  return folder;
}

Descriptor open_inside(int folder, const std::string& name, bool make) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
  Descriptor inside(openat(folder, name.c_str(), kFlags));
  if (inside || !make) return inside;
  write_step("folder");
  if (mkdirat(folder, name.c_str(), 0700) && errno != EEXIST) fail_file("make", name, errno);
  inside = Descriptor(openat(folder, name.c_str(), kFlags));
  if (!inside) fail_file("open", name, errno);
  return inside;
}

}  // namespace fg::cache

#include "cache/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>

#include "cache/unusable.h"

namespace fg::cache {
namespace {

constexpr int kInside = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
constexpr int kMostLinks = 40;

// Opens a path part by part, each in the folder before it: nothing changes between the check of a
// part and its use. Links on the way are followed when this user or the system's made them. The
// folders on the way may be anybody's: their owners can take the last one away, which costs a
// compilation, but cannot make one that is this user's.
class Walk {
 public:
  Walk(const std::string& path, const char* what, bool make)
      : path_(path), what_(what), make_(make), rest_(path) {}

  // No descriptor when a part is missing and none is to be made.
  Descriptor open() {
    start();
    while (!rest_.empty()) {
      size_t slash = std::min(rest_.find('/'), rest_.size());
      std::string part = rest_.substr(0, slash);
      rest_.erase(0, slash + 1);
      if (part.empty() || part == ".") continue;
      if (!enter(part)) return {};
    }
    Descriptor opened(openat(at_.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened) refuse_part("cannot be opened");
    return opened;
  }

 private:
  [[noreturn]] void refuse_part(const char* why) const {
    refuse("no folder", "{} {} {}: {}", what_, path_, why, std::strerror(errno));
  }

  void start() {
    struct stat status;
    at_ = Descriptor(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!at_ || fstat(at_.number(), &status)) refuse_part("cannot be opened");
    system_ = status.st_uid;  // root, by whatever number it is seen here
  }

  bool enter(const std::string& part) {
    constexpr int kLook = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    for (int attempt = 0; attempt < 3; attempt++) {
      Descriptor next(openat(at_.number(), part.c_str(), kLook | O_DIRECTORY));
      if (next) {
        at_ = std::move(next);
        return true;
      }
      if (errno == ENOTDIR || errno == ELOOP) {
        Descriptor link(openat(at_.number(), part.c_str(), kLook));
        if (link) return follow(link);
      }
      if (errno != ENOENT) refuse_part("cannot be opened");
      if (!make_) return false;
      if (!make_private_folder(at_.number(), part) && errno != EEXIST) {
        refuse_part("cannot be made");
      }
    }
    refuse_part("cannot be made");
  }

  bool follow(const Descriptor& link) {
    struct stat status;
    if (fstat(link.number(), &status)) refuse_part("cannot be opened");
    errno = ENOTDIR;
    if (!S_ISLNK(status.st_mode)) refuse_part("cannot be opened");
    if (status.st_uid != geteuid() && status.st_uid != 0 && status.st_uid != system_) {
      refuse("foreign folder",
             "{} {} leads through a symbolic link of user {}; expected yours ({})", what_, path_,
             status.st_uid, geteuid());
    }
    char target[PATH_MAX];
    ssize_t size = readlinkat(link.number(), "", target, sizeof(target));
    errno = ELOOP;
    if (size <= 0 || ++links_ > kMostLinks) refuse_part("cannot be opened");
    std::string to(target, static_cast<size_t>(size));
    if (to.starts_with('/')) start();
    rest_ = to + "/" + rest_;
    return true;
  }

  const std::string& path_;
  const char* what_;
  bool make_;
  std::string rest_;
  Descriptor at_;
  uid_t system_ = 0;
  int links_ = 0;
};

void check(const Descriptor& folder, const std::string& path, const char* what) {
  struct stat status;
  if (fstat(folder.number(), &status)) fail_file("open", path, errno);
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

std::string absolute_path(const std::string& path) {
  if (path.empty() || path.starts_with('/')) return path;
  char here[PATH_MAX];
  if (!getcwd(here, sizeof(here))) {
    refuse("no folder", "the path {} has no place: the current folder is gone", path);
  }
  return std::string(here) + "/" + path;
}

Descriptor open_private_folder(const std::string& path, const char* what) {
  if (path.empty()) refuse("no folder", "{} has no place: there is no home directory", what);
  std::string whole = absolute_path(path);
  Descriptor folder = Walk(whole, what, true).open();
  check(folder, whole, what);
  return folder;
}

Descriptor open_inside(int folder, const std::string& name, bool make) {
  Descriptor inside(openat(folder, name.c_str(), kInside));
  if (inside || !make) return inside;
  write_step("folder");
  // The folder is this user's alone: a file or a link in the place of one is no use to anybody.
  if (errno == ENOTDIR || errno == ELOOP) remove_anything(folder, name);
  if (!make_private_folder(folder, name) && errno != EEXIST) fail_file("make", name, errno);
  inside = Descriptor(openat(folder, name.c_str(), kInside));
  if (!inside) fail_file("open", name, errno);
  return inside;
}

Descriptor open_own_file(int folder, const std::string& name, int flags) {
  Descriptor file = open_plain(folder, name, flags | O_NOFOLLOW);
  if (file || (errno != kNotPlain && errno != ELOOP) || !(flags & O_CREAT)) return file;
  remove_anything(folder, name);
  return open_plain(folder, name, flags | O_NOFOLLOW);
}

}  // namespace fg::cache

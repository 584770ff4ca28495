#include "cache/local_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "cache/folder.h"
#include "cache/lookup.h"
#include "cache/seal.h"
#include "cache/store_files.h"
#include "cache/unusable.h"

namespace fg::cache {
namespace {

constexpr const char* kWhat = "the cache folder";
constexpr size_t kMostPerKey = 64;  // sets of guards

// The time of a file says when it was used last. It is written at most once a minute, so that a
// lookup usually changes nothing; a time in the future comes from a clock that went wrong.
void mark_used(int file, const struct stat& status) {
  time_t now = std::time(nullptr);
  if (status.st_mtime > now || now - status.st_mtime > 60) futimens(file, nullptr);
}

}  // namespace

LocalStore::LocalStore(const std::string& directory, const SecretKey& secret, uint64_t size_limit)
    : directory_(absolute_path(directory)),
      secret_(secret),
      size_limit_(size_limit),
      root_(open_private_folder(directory_, kWhat)) {}

bool LocalStore::is_gone() const {
  struct stat named, opened;
  if (fstat(root_.number(), &opened)) return false;
  if (stat(directory_.c_str(), &named)) return errno == ENOENT || errno == ENOTDIR;
  return named.st_ino != opened.st_ino || named.st_dev != opened.st_dev;
}

Descriptor LocalStore::key_folder(const Digest& key, bool make) const {
  std::string path = path_of(hex(key));
  Descriptor folder = open_inside(root_.number(), path, false);
  if (folder || !make) return folder;
  open_inside(root_.number(), kEntries, true);
  open_inside(root_.number(), path.substr(0, path.rfind('/')), true);
  return open_inside(root_.number(), path, true);
}

Bytes LocalStore::read(int folder, const std::string& name, const Digest& key, Use use) const {
  Descriptor file = open_own_file(folder, name, O_RDONLY);
  if (!file && errno == ENOENT) refuse("removed", "the entry {} was removed just now", name);
  if (!file && (errno == kNotPlain || errno == ELOOP)) {
    refuse("damaged", "the entry {} is no plain file", name);
  }
  struct stat status;
  if (!file || fstat(file.number(), &status)) fail_file("read", name, errno);
  Header header;
  auto size = static_cast<size_t>(status.st_size);
  if (size < kHeaderSize || !read_at(file.number(), header.data(), kHeaderSize, 0)) {
    refuse("damaged", "the entry {} is too short", name);
  }
  Announced announced = check_header(bytes_of(header), key, secret_);
  if (size != kHeaderSize + announced.size) {
    refuse("damaged", "the entry {} has {} bytes; expected {}", name, size,
           kHeaderSize + announced.size);
  }
  Bytes content(announced.size);
  if (!read_at(file.number(), content.data(), announced.size, kHeaderSize)) {
    fail_file("read", name, errno);
  }
  check_content(content.view(), announced);
  unpack(content);
  if (use == Use::hit) mark_used(file.number(), status);
  return content;
}

bool LocalStore::visit(const Digest& key, const Visit& take, const ReportProblem& report) const {
  Descriptor folder = key_folder(key, false);
  if (!folder && errno != ENOENT) fail_file("open", path_of(hex(key)), errno);
  if (!folder) return false;
  for (const std::string& name : names_in(folder.number())) {
    if (is_temporary(name)) continue;
    try {
      if (take({name, read(folder.number(), name, key, Use::hit)})) return true;
    } catch (const Unusable& problem) {
      // A damaged file makes room; one that another secret key sealed is left to its owner.
      if (problem.reason() == std::string_view("damaged")) {
        remove_anything(folder.number(), name);
      }
      if (problem.reason() != std::string_view("removed")) report(problem);
    } catch (const Error& problem) {
      report(problem);
    }
  }
  return false;
}

namespace {

struct Used {
  int64_t at;
  std::string name;
};

// A key whose guards are never met twice must not fill its folder.
uint64_t trim(int folder) {
  std::vector<Used> found;
  for (const std::string& name : names_in(folder)) {
    struct stat status;
    if (is_temporary(name) || fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW)) continue;
    found.push_back({status.st_mtime, name});
  }
  if (found.size() <= kMostPerKey) return 0;
  std::sort(found.begin(), found.end(), [](const Used& a, const Used& b) { return a.at < b.at; });
  uint64_t removed = 0;
  for (size_t i = 0; i + kMostPerKey < found.size(); i++) {
    removed += remove_anything(folder, found[i].name);
  }
  return removed;
}

}  // namespace

uint64_t LocalStore::write(const Digest& key, const std::string& name,
                           std::string_view content) const {
  Header header = seal(content, key, secret_);
  uint64_t removed = 0;
  // Counted before the file is there: a process killed in between leaves a number that is too
  // large, and the next collection puts it right.
  bool too_much = account(bytes_on_disk(kHeaderSize + content.size()));
  for (int attempt = 0;; attempt++) {
    try {
      Descriptor folder = key_folder(key, true);
      bool is_new = faccessat(folder.number(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0;
      write_file(folder.number(), name, {bytes_of(header), content});
      if (is_new) append_stored_to_log(root_.number(), hex(key), name);
      removed += trim(folder.number());
      break;
    } catch (const FileError& problem) {
      if (attempt == 2) throw;
      bool folder_there = problem.code() == EISDIR || problem.code() == ENOTEMPTY;
      if (folder_there) {
        remove(hex(key), name);
      } else if (problem.code() != ENOENT) {  // a collector removed the empty folder
        throw;
      }
    }
  }
  return removed + (too_much ? collect(size_limit_).removed : 0);
}

void LocalStore::remove(const std::string& key, const std::string& name) const {
  remove_anything(root_.number(), path_of(key) + "/" + name);
}

std::vector<StoredFile> LocalStore::list() const {
  std::vector<StoredFile> files;
  each_file(root_.number(), [&](const StoredFile& file) {
    if (!is_temporary(file.name)) files.push_back(file);
  });
  return files;
}

Bytes LocalStore::read(const StoredFile& file) const {
  std::optional<Digest> key = digest_from_hex(file.key);
  if (!key) refuse("damaged", "{} is the name of no key", file.key);
  Descriptor folder = open_inside(root_.number(), path_of(file.key), false);
  if (!folder) refuse("removed", "the entry {} was removed just now", file.key);
  Bytes content = read(folder.number(), file.name, *key, Use::look);
  if (key_of(content).digest() != *key) {
    refuse("malformed", "the fields of the entry {} are not those of its key", file.key);
  }
  return content;
}

}  // namespace fg::cache

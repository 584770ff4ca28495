// The collector of the local store: removes the least recently used entries when the store is too
// large, and files that killed processes left behind.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>

#include "base/blocked_signal.h"
#include "cache/folder.h"
#include "cache/local_store.h"
#include "cache/store_files.h"
#include "cache/unusable.h"

namespace fg::cache {
namespace {

constexpr int64_t kOrphanSeconds = 3600;  // no writer takes that long

// The file with the number of bytes, locked. While another process counts, this one waits a moment;
// after that it leaves the number alone, and the number is wrong until it is counted anew.
class Usage {
 public:
  explicit Usage(int root) : file_(open_own_file(root, kUsage, O_RDWR | O_CREAT)) {
    for (int i = 0; file_ && !locked_ && i < 50; i++) {
      locked_ = flock(file_.number(), LOCK_EX | LOCK_NB) == 0;
      if (!locked_) usleep(2000);
    }
  }
  ~Usage() {
    if (locked_) flock(file_.number(), LOCK_UN);  // a forked child may hold a copy of the file
  }
  Usage(const Usage&) = delete;
  Usage& operator=(const Usage&) = delete;

  explicit operator bool() const { return locked_; }
  bool read(uint64_t& bytes) const {
    char text[24] = {};
    ssize_t size = pread(file_.number(), text, sizeof(text) - 1, 0);
    if (size <= 0) return false;
    return std::from_chars(text, text + size, bytes).ec == std::errc();
  }
  void write(uint64_t bytes) const {
    BlockedSignal file_too_large(SIGXFSZ);
    std::string text = fmt::format("{:<20}\n", bytes);  // one length: no need to truncate
    [[maybe_unused]] ssize_t written = pwrite(file_.number(), text.data(), text.size(), 0);
  }

 private:
  Descriptor file_;
  bool locked_ = false;
};

struct Found {
  std::vector<StoredFile> files;
  uint64_t bytes = 0;
};

void remove_file(int root, const StoredFile& file) {
  write_step("remove");
  std::string folder = path_of(file.key);
  remove_anything(root, folder + "/" + file.name);
  unlinkat(root, folder.c_str(), AT_REMOVEDIR);  // fails while there are others
}

// Counts everything; a time in the future becomes now, or that file would be the last to go for
// ever. Orphans are removed when they are so old that no writer can still be at work.
Found find_all(int root, Collected& result) {
  Found found;
  int64_t now = std::time(nullptr);
  each_file(root, [&](StoredFile file) {
    std::string path = path_of(file.key) + "/" + file.name;
    if (file.used_at > now) {
      utimensat(root, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
      file.used_at = now;
    }
    if (is_temporary(file.name) && now - file.used_at > kOrphanSeconds) {
      remove_file(root, file);
      result.orphans++;
      return;
    }
    found.bytes += file.bytes;
    if (!is_temporary(file.name)) found.files.push_back(std::move(file));
  });
  return found;
}

// Removes lock files that no process holds, each under its own lock.
uint64_t remove_stale_locks(int root) {
  uint64_t removed = 0;
  Descriptor locks = open_inside(root, kLocks, false);
  if (!locks) return 0;
  int64_t now = std::time(nullptr);
  for (const std::string& name : names_in(locks.number())) {
    Descriptor file = open_own_file(locks.number(), name, O_RDWR);
    struct stat status;
    if (!file && (errno == kNotPlain || errno == ELOOP)) {  // no lock of ours
      removed += remove_anything(locks.number(), name);
    }
    if (!file || fstat(file.number(), &status)) continue;
    bool old = status.st_mtime > now || now - status.st_mtime > kOrphanSeconds;
    if (!old || flock(file.number(), LOCK_EX | LOCK_NB)) continue;
    removed += unlinkat(locks.number(), name.c_str(), 0) == 0;
    flock(file.number(), LOCK_UN);
  }
  return removed;
}

}  // namespace

bool LocalStore::account(uint64_t bytes) const {
  Usage usage(root_.number());
  if (!usage) return false;
  uint64_t total = 0;
  if (!usage.read(total)) return true;  // never counted
  usage.write(total + bytes);
  return total + bytes > size_limit_;
}

Collected LocalStore::collect(uint64_t limit) const {
  Collected result;
  Usage usage(root_.number());
  if (!usage) return result;  // another process does it
  Found found = find_all(root_.number(), result);
  result.bytes_before = found.bytes;
  std::sort(found.files.begin(), found.files.end(),
            [](const StoredFile& a, const StoredFile& b) { return a.used_at < b.used_at; });
  // A little more than asked for, or the next entry would start all over.
  uint64_t target = found.bytes > limit ? limit / 10 * 9 : limit;
  for (const StoredFile& file : found.files) {
    if (found.bytes <= target) break;
    remove_file(root_.number(), file);
    found.bytes -= file.bytes;
    result.removed++;
  }
  usage.write(found.bytes);
  result.stale_locks = remove_stale_locks(root_.number());
  result.bytes_after = found.bytes;
  result.entries = found.files.size() - result.removed;
  return result;
}

// The folder itself stays, with its mode, for the processes that have it open.
void LocalStore::clear() const {
  Usage usage(root_.number());
  each_file(root_.number(), [&](const StoredFile& file) { remove_file(root_.number(), file); });
  remove_anything(root_.number(), "lookups");
  remove_anything(root_.number(), "lookups.old");
  remove_stale_locks(root_.number());
  if (usage) usage.write(0);
}

}  // namespace fg::cache

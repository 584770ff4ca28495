// Entries as files of this user:
//
//   entries/3f/<62 more digits of the key's digest>/<digest of the sections>
//   locks/<digest of the key>      who compiles; see turn.h
//   usage                          about how many bytes there are
//   lookups                        the last lookups; see lookup.h
//
// Many processes read and write at once. A file gets its name when it is whole and is never changed
// after that; who reads has it in memory of its own before checking it. Nothing is forced to the
// disk: after a power failure an entry may be damaged, which its digest shows, and a damaged entry
// is a miss; that costs one compilation, where fsync would cost milliseconds each time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/file.h"

namespace fg::cache {

struct Candidate {
  std::string name;
  Bytes content;  // every check but that of the key's fields was made
};
using Visit = std::function<bool(const Candidate&)>;               // true: this is it
using ReportProblem = std::function<void(const std::exception&)>;  // and go on

struct StoredFile {
  std::string key, name;  // hexadecimal digests
  uint64_t bytes = 0;     // on disk
  int64_t used_at = 0;    // seconds since 1970, give or take a minute
};

struct Collected {
  uint64_t bytes_before = 0, bytes_after = 0;
  uint64_t entries = 0;                                // that are left
  uint64_t removed = 0, orphans = 0, stale_locks = 0;  // orphans: of writers that were killed
};

class LocalStore {
 public:
  // All methods are for any number of threads. Makes the folder; refuses one that others may enter.
  LocalStore(const std::string& directory, const SecretKey& secret, uint64_t size_limit);

  // The entries under this key in the order of their names, until one is taken.
  bool visit(const Digest& key, const Visit& take, const ReportProblem& report) const;
  // How many entries others had to be removed for.
  uint64_t write(const Digest& key, const std::string& name, std::string_view content) const;
  void remove(const std::string& key, const std::string& name) const;

  std::vector<StoredFile> list() const;
  // The entry without any count; refuses what is damaged.
  Bytes read(const StoredFile& file) const;
  // Down to the limit, the least recently used first; tidies up after processes that were killed.
  Collected collect(uint64_t limit) const;
  void clear() const;

  // Whether the folder was removed, or another has its place.
  bool is_gone() const;
  const std::string& directory() const { return directory_; }
  int folder() const { return root_.number(); }

 private:
  Descriptor key_folder(const Digest& key, bool make) const;
  enum class Use : uint8_t { hit, look };  // a look does not count as a use
  Bytes read(int folder, const std::string& name, const Digest& key, Use use) const;
  bool account(uint64_t bytes) const;

  std::string directory_;
  SecretKey secret_;
  uint64_t size_limit_;
  Descriptor root_;
};

}  // namespace fg::cache

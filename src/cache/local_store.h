// The local store: entries as files of this user.
//
//   entries/3f/<62 more digits of the key's digest>/<digest of the sections>
//   locks/<digest of the key>      the lock of the compiling process; see turn.h
//   usage                          the approximate number of bytes in the store
//   lookups                        the last lookups; see lookup.h
//
// Many processes read and write at once. A file gets its name when it is whole and is never changed
// after that; a reader copies it to its own memory before it checks it. Nothing is forced to the
// disk: after a power failure an entry may be damaged. Its digest shows that, and a damaged entry
// is a miss, at the cost of one compilation; fsync would cost milliseconds at every write.
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
  Bytes content;  // fully checked, except for the key's fields
};
using Visit = std::function<bool(const Candidate&)>;               // true takes it
using ReportProblem = std::function<void(const std::exception&)>;  // the search goes on

struct StoredFile {
  std::string key, name;  // hexadecimal digests
  uint64_t bytes = 0;     // on disk
  int64_t used_at = 0;    // seconds since 1970, give or take a minute
};

struct Collected {
  uint64_t bytes_before = 0, bytes_after = 0;
  uint64_t entries = 0;                                // that are left
  uint64_t removed = 0, orphans = 0, stale_locks = 0;  // orphans: files of killed writers
};

class LocalStore {
 public:
  // Makes the folder; refuses one that others may enter. All methods are for any number of threads.
  LocalStore(const std::string& directory, const SecretKey& secret, uint64_t size_limit);

  // Shows `take` the entries of this key in the order of their names, until it takes one.
  bool visit(const Digest& key, const Visit& take, const ReportProblem& report) const;
  // Returns the number of entries that were removed to make room.
  uint64_t write(const Digest& key, const std::string& name, std::string_view content) const;
  void remove(const std::string& key, const std::string& name) const;

  std::vector<StoredFile> list() const;
  // Reads an entry without counting it as used; refuses a damaged one.
  Bytes read(const StoredFile& file) const;
  // Removes entries down to the limit, the least recently used first, and those of killed writers.
  Collected collect(uint64_t limit) const;
  void clear() const;

  // Whether the folder was removed, or another has its place.
  bool is_gone() const;
  const std::string& directory() const { return directory_; }
  int folder() const { return root_.number(); }

 private:
  Descriptor key_folder(const Digest& key, bool make) const;
  enum class Use : uint8_t { hit, look };  // a look is not counted as a use
  Bytes read(int folder, const std::string& name, const Digest& key, Use use) const;
  bool account(uint64_t bytes) const;

  std::string directory_;
  SecretKey secret_;
  uint64_t size_limit_;
  Descriptor root_;
};

}  // namespace fg::cache

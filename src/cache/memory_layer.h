// The memory layer: entries that this process has read or made, found again without a file.
// Bounded; the least recently used go first. One thread at a time.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "base/digest.h"
#include "cache/local_store.h"

namespace fg::cache {

class MemoryLayer {
 public:
  explicit MemoryLayer(uint64_t limit) : limit_(limit) {}

  // All entries of this key; they count as used now.
  std::vector<Candidate> of(const Digest& key);
  void add(const Digest& key, const Candidate& candidate);
  void clear();

 private:
  struct Item {
    Digest key;
    Candidate candidate;
  };
  using Items = std::list<Item>;  // the one used last is the first

  Items items_;
  std::multimap<Digest, Items::iterator> by_key_;
  uint64_t limit_, bytes_ = 0;

  void drop(Items::iterator item);
};

}  // namespace fg::cache

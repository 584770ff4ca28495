// Free parts of the arena while its places are given to values, found by size. Parts that lie side
// by side are joined.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace fg::schedule {

inline constexpr int64_t kPlaceAlign = 64;
inline int64_t aligned_place(int64_t bytes) {
  return (bytes + kPlaceAlign - 1) / kPlaceAlign * kPlaceAlign;
}

struct MemoryRange {
  int64_t offset = -1, bytes = 0;
};

// All parts begin aligned; the end of a part that was given from outside need not be.
class FreeParts {
 public:
  MemoryRange take(int64_t bytes) {
    auto found = by_size_.lower_bound(bytes);
    bytes = aligned_place(bytes);
    if (found == by_size_.end()) {
      end_ += bytes;
      return {end_ - bytes, bytes};
    }
    auto [size, offset] = *found;
    remove(offset, size);
    if (size > bytes) add(offset + bytes, size - bytes);
    return {offset, std::min(size, bytes)};
  }
  void give_back(MemoryRange part) {
    auto [offset, bytes] = part;
    auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.end() && after->first == offset + bytes) {
      bytes += after->second;
      remove(after->first, after->second);
    }
    auto before = by_offset_.lower_bound(offset);
    if (before != by_offset_.begin() && (--before)->first + before->second == offset) {
      auto [start, size] = *before;
      remove(start, size);
      offset = start;
      bytes += size;
    }
    add(offset, bytes);
  }
  int64_t end() const { return end_; }

 private:
  void add(int64_t offset, int64_t bytes) {
    by_offset_[offset] = bytes;
    by_size_.emplace(bytes, offset);
  }
  void remove(int64_t offset, int64_t bytes) {
    by_offset_.erase(offset);
    auto [first, last] = by_size_.equal_range(bytes);
    while (first != last && first->second != offset) ++first;
    by_size_.erase(first);
  }

  std::map<int64_t, int64_t> by_offset_;
  std::multimap<int64_t, int64_t> by_size_;
  int64_t end_ = 0;
};

}  // namespace fg::schedule

// A map from pointers to values that only grows. Values lie one after another in the order in which
// they came, their places in an array of their own: large programs are captured as fast as small
// ones. The nodes of std::unordered_map lie all over the memory, which is slow for large programs.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace fg::capture {

template <class T, class V>
class PointerTable {
 public:
  using Entry = std::pair<const T*, V>;

  // The entry of a key, or end(). Entries stay where they are.
  Entry* find(const T* key) {
    uint32_t place = slots_[slot_of(key)];
    return place == 0 ? nullptr : &entries_[place - 1];
  }
  const Entry* find(const T* key) const { return const_cast<PointerTable*>(this)->find(key); }
  static constexpr Entry* end() { return nullptr; }
  size_t size() const { return entries_.size(); }
  // The place of a key's entry, from 0 in the order in which they came; size(): it has none.
  size_t place_of(const T* key) const {
    uint32_t place = slots_[slot_of(key)];
    return place == 0 ? entries_.size() : place - 1;
  }

  V& operator[](const T* key) {
    size_t slot = slot_of(key);
    if (slots_[slot] != 0) return entries_[slots_[slot] - 1].second;
    entries_.emplace_back(key, V());
    slots_[slot] = static_cast<uint32_t>(entries_.size());
    if (2 * entries_.size() > slots_.size()) grow();
    return entries_.back().second;
  }

 private:
  // The slot of a key, or the free one that it would get.
  size_t slot_of(const T* key) const {
    size_t mask = slots_.size() - 1;
    size_t at = (reinterpret_cast<uintptr_t>(key) * 0x9E3779B97F4A7C15 >> 20) & mask;
    while (slots_[at] != 0 && entries_[slots_[at] - 1].first != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    slots_.assign(4 * slots_.size(), 0);
    for (size_t i = 0; i < entries_.size(); i++) {
      slots_[slot_of(entries_[i].first)] = static_cast<uint32_t>(i + 1);
    }
  }

  std::deque<Entry> entries_;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(64);  // 0: none
};

}  // namespace fg::capture

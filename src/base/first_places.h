// FirstPlaces: the first place of each of several things in a list, to find arguments that are the
// same tensor, or tensors that share memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/small_vector.h"

namespace fg {

class FirstPlaces {
 public:
  // The place of the first occurrence of a thing; things come in order, from place 0 on.
  size_t of(const void* thing) {
    size_t place = seen_.size();
    seen_.push_back(thing);
    if (place < kFew) {
      for (size_t i = 0; i < place; i++) {
        if (seen_[i] == thing) return i;
      }
      return place;
    }
    if (place == kFew) {
      for (size_t i = 0; i < place; i++) many_.try_emplace(seen_[i], i);
    }
    return many_.try_emplace(thing, place).first->second;
  }

 private:
  static constexpr size_t kFew = 16;  // fewer are looked through faster than they are hashed
  SmallVector<const void*, kFew> seen_;
  std::unordered_map<const void*, size_t> many_;
};

}  // namespace fg

#include "cache/memory_layer.h"

namespace fg::cache {

std::vector<Candidate> MemoryLayer::of(const Digest& key) {
  std::vector<Candidate> found;
  auto [begin, end] = by_key_.equal_range(key);
  for (auto place = begin; place != end; ++place) {
    found.push_back(place->second->candidate);
    items_.splice(items_.begin(), items_, place->second);
  }
  return found;
}

void MemoryLayer::drop(Items::iterator item) {
  auto [begin, end] = by_key_.equal_range(item->key);
  for (auto place = begin; place != end; ++place) {
    if (place->second != item) continue;
    by_key_.erase(place);
    break;
  }
  bytes_ -= item->candidate.content.size();
  items_.erase(item);
}

void MemoryLayer::add(const Digest& key, const Candidate& candidate) {
  auto [begin, end] = by_key_.equal_range(key);
  for (auto place = begin; place != end; ++place) {
    if (place->second->candidate.name != candidate.name) continue;
    drop(place->second);
    break;
  }
  if (candidate.content.size() > limit_) return;
  items_.push_front({key, candidate});
  by_key_.emplace(key, items_.begin());
  bytes_ += candidate.content.size();
  while (bytes_ > limit_) drop(std::prev(items_.end()));
}

void MemoryLayer::clear() {
  items_.clear();
  by_key_.clear();
  bytes_ = 0;
}

}  // namespace fg::cache

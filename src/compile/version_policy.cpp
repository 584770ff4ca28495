#include "compile/version_policy.h"

#include <fmt/format.h>

#include "compile/counters.h"

namespace fg::compiler {

bool VersionPolicy::count_refused() const {
  count_eager(refusal_);
  return true;
}

Decision VersionPolicy::refuse(std::string why) {
  if (fullgraph_) return {Decision::Kind::raise, std::move(why)};
  refusal_ = why;
  bool is_new = count_eager(why);
  return {Decision::Kind::eager, std::move(why), is_new};
}

Decision VersionPolicy::after_miss(const Miss& miss, size_t most) {
  if (miss.alike >= most || miss.kinds >= kMostKinds) {
    return refuse(fmt::format(
        "{} was captured {} times and the call differs again: {}; it runs eagerly from now on",
        name_, most, miss.difference.empty() ? "other constants" : miss.difference));
  }
  for (size_t place : miss.changed) {
    if (!fixed_.contains(place)) moving_.insert(place);
  }
  return {Decision::Kind::capture};
}

Decision VersionPolicy::after_failure(const CaptureInputs& inputs, const std::vector<size_t>& asked,
                                      const Callback<std::string()>& why) {
  if (learn(inputs, asked)) return {Decision::Kind::again};
  if (fullgraph_) return {Decision::Kind::raise};
  return refuse(fmt::format("{} runs eagerly: {}", name_, why()));
}

// Floats that the function reads elsewhere come last among the inputs, and are learned first: a
// constant among them costs a version only where it changes.
bool VersionPolicy::learn_moving(const CaptureInputs& inputs, const std::vector<size_t>& asked) {
  if (moving_.empty()) return false;
  size_t first = inputs.tensors + inputs.floats - constants(inputs.structure).size();
  std::set<size_t> gone;
  bool elsewhere = asked.empty();
  for (size_t input : asked) {
    if (input < first) continue;
    elsewhere = true;
    if (input - first < inputs.moving.size()) gone.insert(inputs.moving[input - first]);
  }
  if (!elsewhere) return false;
  if (gone.empty()) gone = moving_;
  for (size_t place : gone) moving_.erase(place);
  fixed_.merge(gone);
  return true;
}

bool VersionPolicy::learn(const CaptureInputs& inputs, const std::vector<size_t>& asked) {
  if (learn_moving(inputs, asked)) return true;
  if (inputs.floats == 0) return false;
  std::set<size_t>& constants = constants_[inputs.structure];
  std::vector<size_t> free, found;
  for (size_t place = 0; place < inputs.floats; place++) {
    if (!constants.contains(place)) free.push_back(place);
  }
  for (size_t input : asked) {
    if (input < inputs.tensors || input - inputs.tensors >= free.size()) continue;
    found.push_back(free[input - inputs.tensors]);
  }
  if (found.empty()) found = free;
  constants.insert(found.begin(), found.end());
  return !free.empty();
}

bool VersionPolicy::allows_refill() {
  if (refills_ == kMostRefills) return false;
  refills_++;
  return true;
}

const std::set<size_t>& VersionPolicy::constants(size_t structure) const {
  static const std::set<size_t> none;
  auto found = constants_.find(structure);
  return found == constants_.end() ? none : found->second;
}

void VersionPolicy::forget() {
  refusal_.clear();
  refills_ = 0;
  constants_.clear();
  moving_.clear();
  fixed_.clear();
}

}  // namespace fg::compiler

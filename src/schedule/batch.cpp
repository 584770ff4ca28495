#include "schedule/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace fg::schedule {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

namespace {

// Larger loops gain nothing, and what waits for them keeps its memory.
constexpr int64_t kMostElements = 1 << 15;
constexpr size_t kMostGroups = 64;

class Batcher {
 public:
  Batcher(const ir::Graph& graph, const std::vector<Place>& places, std::vector<Group>& groups)
      : graph_(graph), groups_(groups), first_reader_(groups.size(), groups.size()) {
    std::vector<size_t> maker(graph.values.size(), groups.size());
    for (size_t g = 0; g < groups.size(); g++) {
      for (uint32_t index : groups[g].operations) {
        const Operation& operation = graph.operations[index];
        for (int k = 0; k < operation.outputs(); k++) maker[operation.output + k] = g;
        for (ValueId input : operation.inputs) {
          size_t made = input == kNoValue ? groups.size() : maker[places[input].root];
          if (made < g) first_reader_[made] = std::min(first_reader_[made], g);
        }
      }
    }
  }

  void run() {
    std::vector<std::vector<size_t>> steps(groups_.size());  // by their last group
    std::unordered_map<std::string, Batch> open;
    for (size_t g = 0; g < groups_.size(); g++) {
      steps[g] = {g};
      if (!is_small_loop(groups_[g])) continue;
      Batch& batch = open[describe(groups_[g])];
      if (batch.end <= g || batch.groups == kMostGroups) batch = {};
      if (batch.groups > 0)
        steps[g].insert(steps[g].begin(), steps[batch.last].begin(), steps[batch.last].end());
      if (batch.groups > 0) steps[batch.last].clear();
      batch = {batch.groups + 1, g, std::min(batch.end, first_reader_[g])};
    }
    reorder(steps);
  }

 private:
  struct Batch {
    size_t groups = 0, last = 0;
    size_t end = ~size_t{0};  // the first reader of a result
  };

  bool is_small_loop(const Group& group) const {
    if (!group.loop || group.reductions > 0) return false;
    const ir::ValueInfo& info = graph_.values[graph_.operations[group.operations[0]].output];
    return product(info.sizes).value() <= kMostElements;
  }

  // Equal texts: most likely equal code, which is made later and compared then.
  std::string describe(const Group& group) {
    std::string out;
    std::map<ValueId, size_t> seen;  // in order of appearance
    for (uint32_t index : group.operations) {
      const Operation& operation = graph_.operations[index];
      out += fmt::format("{} {}", operation.primitive->name,
                         name(graph_.values[operation.output].dtype));
      if (operation.params) operation.primitive->params->print(out, operation.params.get());
      for (ValueId input : operation.inputs) {
        const ir::ValueInfo& info = graph_.values[input];
        out += fmt::format(" {}:{}:{}", seen.try_emplace(input, seen.size()).first->second,
                           name(info.dtype), info.sizes.empty());
      }
      seen.try_emplace(operation.output, seen.size());
      out += '\n';
    }
    return out;
  }

  void reorder(const std::vector<std::vector<size_t>>& steps) {
    std::vector<Group> ordered;
    ordered.reserve(groups_.size());
    for (const std::vector<size_t>& step : steps) {
      for (size_t g : step) {
        ordered.push_back(std::move(groups_[g]));
        ordered.back().beside = g != step.front();
      }
    }
    groups_ = std::move(ordered);
  }

  const ir::Graph& graph_;
  std::vector<Group>& groups_;
  std::vector<size_t> first_reader_;
};

}  // namespace

void batch(const ir::Graph& graph, const std::vector<Place>& places, std::vector<Group>& groups) {
  Batcher(graph, places, groups).run();
}

std::vector<size_t> ends_of_steps(const std::vector<Group>& groups) {
  std::vector<size_t> ends(groups.size());
  for (size_t g = groups.size(); g-- > 0;) {
    bool goes_on = g + 1 < groups.size() && (groups[g + 1].beside || groups[g + 1].tiled);
    ends[g] = goes_on ? ends[g + 1] : g;
  }
  return ends;
}

}  // namespace fg::schedule

#include "schedule/plan_memory.h"

#include <set>

#include "schedule/batch.h"
#include "schedule/free_parts.h"
#include "tensor/geometry.h"

namespace fg::schedule {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

int64_t span_bytes(const ir::ValueInfo& info) {
  return reach(info.sizes, info.strides).value() * static_cast<int64_t>(item_size(info.dtype));
}

namespace {

// Behind any block, the memory of inputs: with gaps, so that no two of them are joined.
constexpr int64_t kFirstInput = int64_t{1} << 60;

class Planner {
 public:
  Planner(const ir::Graph& graph, const std::vector<Place>& places,
          const std::vector<Group>& groups)
      : graph_(graph),
        places_(places),
        groups_(groups),
        ends_(ends_of_steps(groups)),
        maker_(graph.values.size(), -1),
        last_(graph.values.size(), -1),
        kept_(graph.values.size()),
        taken_over_(graph.values.size()),
        viewed_(graph.values.size()),
        parts_(graph.values.size()) {
    plan_.stored.assign(graph.values.size(), false);
    plan_.local.assign(graph.values.size(), false);
  }

  MemoryPlan run(bool consume) {
    find_lives();
    std::vector<std::vector<ValueId>> ending(groups_.size() + 1);
    if (consume) add_inputs(ending);
    for (size_t g = 0; g < groups_.size(); g++) {
      std::set<ValueId> free = free_for_loop(g);
      each_output(groups_[g], [&](ValueId value) {
        // The outputs of a single operation are written even if no operation reads them.
        plan_.stored[value] =
            kept_[value] || last_[value] > static_cast<int64_t>(g) || !groups_[g].loop;
        plan_.local[value] = is_local(value, g);
        if (!plan_.stored[value] || kept_[value] || plan_.local[value]) return;
        parts_[value] = take_over(value, free);
        ending[std::max(last_[value], static_cast<int64_t>(ends_[g]))].push_back(value);
      });
      for (ValueId value : ending[g]) {
        if (!taken_over_[value]) block_.give_back(parts_[value]);
      }
    }
    plan_.bytes = block_.end();
    say_places();
    return std::move(plan_);
  }

 private:
  void add_inputs(std::vector<std::vector<ValueId>>& ending) {
    int64_t next = kFirstInput;
    for (ValueId input : graph_.consumable) {
      int64_t bytes = span_bytes(graph_.values[input]);
      if (kept_[input] || viewed_[input] || last_[input] < 0 || bytes == 0) continue;
      parts_[input] = {next, bytes};
      inputs_[next] = input;
      ending[static_cast<size_t>(last_[input])].push_back(input);
      next = aligned_place(next + bytes) + kPlaceAlign;
    }
  }
  void say_places() {
    plan_.offsets.assign(graph_.values.size(), MemoryPlan::kNotPlanned);
    plan_.inside.assign(graph_.values.size(), kNoValue);
    std::set<ValueId> consumed;
    for (ValueId value = 0; value < parts_.size(); value++) {
      int64_t offset = parts_[value].offset;
      plan_.offsets[value] = offset;
      if (offset < kFirstInput) continue;
      auto [start, input] = *--inputs_.upper_bound(offset);
      plan_.offsets[value] = input == value ? MemoryPlan::kNotPlanned : offset - start;
      if (input == value) continue;
      plan_.inside[value] = input;
      consumed.insert(input);
    }
    plan_.consumed.assign(consumed.begin(), consumed.end());
  }

  // Values in the block that a loop reads for the last time, and element i of which it reads only
  // to make element i of its results: those may lie where they were. Another loop of the same step
  // might still read them.
  std::set<ValueId> free_for_loop(size_t g) const {
    std::set<ValueId> found, others;
    bool by_tiles = groups_[g].rows > 0;
    if (!groups_[g].loop || groups_[g].beside || (ends_[g] != g && !by_tiles)) return found;
    for (uint32_t index : groups_[g].elementwise()) {
      const Operation& operation = graph_.operations[index];
      for (ValueId input : operation.inputs) {
        ValueId root = places_[input].root;
        bool ends = last_[root] == static_cast<int64_t>(ends_[g]) && parts_[root].offset >= 0;
        bool element = reads_element(graph_, places_, operation, input);
        (ends && element ? found : others).insert(root);
      }
    }
    if (by_tiles) add_reads_of_others(g, others);
    for (ValueId root : others) found.erase(root);
    return found;
  }
  // Adds the roots that other groups of the same tiles read.
  void add_reads_of_others(size_t g, std::set<ValueId>& roots) const {
    size_t first = g;
    while (groups_[first].tiled) first--;
    for (size_t other = first; other <= ends_[g]; other++) {
      for (uint32_t index : groups_[other].operations) {
        for (ValueId input : graph_.operations[index].inputs) {
          if (other != g && input != kNoValue) roots.insert(places_[input].root);
        }
      }
    }
  }
  // Whether only groups of the same tiles read it.
  bool is_local(ValueId value, size_t g) const {
    return groups_[g].rows > 0 && plan_.stored[value] && !kept_[value] &&
           last_[value] <= static_cast<int64_t>(ends_[g]);
  }
  // The place of one of them with the same layout, else a new one.
  MemoryRange take_over(ValueId value, std::set<ValueId>& free) {
    const ir::ValueInfo& info = graph_.values[value];
    for (ValueId old : free) {
      const ir::ValueInfo& other = graph_.values[old];
      bool fits = known_equal(other.sizes, info.sizes) == Known::yes &&
                  known_equal(other.strides, info.strides) == Known::yes &&
                  item_size(other.dtype) == item_size(info.dtype);
      if (!fits) continue;
      free.erase(old);
      taken_over_[old] = true;
      return parts_[old];
    }
    return block_.take(std::max<int64_t>(span_bytes(info), 1));
  }

  template <class Body>
  void each_output(const Group& group, const Body& body) {
    for (uint32_t index : group.operations) {
      const Operation& operation = graph_.operations[index];
      if (operation.aliases_input()) continue;  // one that is made when it runs
      for (int k = 0; k < operation.outputs(); k++) {
        body(operation.output + static_cast<ValueId>(k));
      }
    }
  }

  // When something outside of the group that makes a value reads it for the last time.
  void find_lives() {
    for (size_t g = 0; g < groups_.size(); g++) {
      each_output(groups_[g], [&](ValueId value) { maker_[value] = static_cast<int64_t>(g); });
    }
    for (size_t g = 0; g < groups_.size(); g++) {
      for (uint32_t index : groups_[g].operations) {
        for (ValueId input : graph_.operations[index].inputs) {
          if (input == kNoValue) continue;
          ValueId root = places_[input].root;
          bool own = maker_[root] == static_cast<int64_t>(g);
          last_[root] = static_cast<int64_t>(own ? g : ends_[g]);
          if (graph_.operations[index].aliases_input()) viewed_[root] = true;
        }
      }
    }
    for (ValueId output : graph_.outputs) {
      if (output != kNoValue) kept_[places_[output].root] = true;
    }
  }

  const ir::Graph& graph_;
  const std::vector<Place>& places_;
  const std::vector<Group>& groups_;
  std::vector<size_t> ends_;
  std::vector<int64_t> maker_, last_;
  std::vector<bool> kept_, taken_over_;
  std::vector<bool> viewed_;  // by a view that is a root: its readers are not known as readers
  std::vector<MemoryRange> parts_;     // per value
  std::map<int64_t, ValueId> inputs_;  // by where their memory begins
  FreeParts block_;
  MemoryPlan plan_;
};

}  // namespace

MemoryPlan plan_memory(const ir::Graph& graph, const std::vector<Place>& places,
                       const std::vector<Group>& groups, bool consume) {
  return Planner(graph, places, groups).run(consume);
}

}  // namespace fg::schedule

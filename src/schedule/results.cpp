// Stages for results: which of them a loop writes over an input, and which get storages of their
// own.
#include "schedule/batch.h"
#include "schedule/schedule.h"
#include "tensor/geometry.h"

namespace fg::schedule {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

namespace {

// The group that makes a value, and the groups that read it.
class Reads {
 public:
  Reads(const ir::Graph& graph, const std::vector<Place>& places, const std::vector<Group>& groups)
      : groups_(groups), ends_(ends_of_steps(groups)), of_(graph.values.size()) {
    for (size_t g = 0; g < groups.size(); g++) {
      for (uint32_t index : groups[g].operations) {
        const Operation& operation = graph.operations[index];
        for (int k = 0; k < operation.outputs(); k++) of_[operation.output + k].maker = g;
        for (ValueId read : operation.inputs) {
          if (read == kNoValue) continue;
          Of& root = of_[places[read].root];
          bool element = reads_element(graph, places, operation, read);
          if (root.last != g) root.before = root.last;
          root.aligned = element && (root.aligned || root.last != g);
          root.last = g;
        }
      }
    }
  }
  // Nothing reads the input after the loop that makes the output, or at the same time, and that
  // loop reads element i only to make element i.
  bool end_with(ValueId input, ValueId output) const {
    size_t made = of_[output].maker;
    if (made == kNever || !groups_[made].loop) return false;
    const Of& read = of_[input];
    if (read.last == made) return read.aligned && is_earlier(read.before, made);
    return is_earlier(read.last, made);
  }

 private:
  static constexpr size_t kNever = ~size_t{0};
  struct Of {
    size_t maker = kNever, last = kNever;
    size_t before = kNever;  // the last group
    bool aligned = false;    // all reads of the last group
  };
  bool is_earlier(size_t read, size_t made) const { return read == kNever || ends_[read] < made; }

  const std::vector<Group>& groups_;
  std::vector<size_t> ends_;
  std::vector<Of> of_;
};

}  // namespace

void find_overwritten(Schedule& schedule) {
  const ir::Graph& graph = schedule.graph;
  const std::vector<Place>& places = schedule.places;
  if (!graph.overwrites) return;
  std::vector<int> shown(graph.values.size());  // how many outputs show a value
  for (ValueId output : graph.outputs) {
    if (output != kNoValue) shown[places[output].root]++;
  }
  Reads reads(graph, places, schedule.groups);
  for (size_t i = 0; i < graph.outputs.size(); i++) {
    const ir::Role& role = graph.output_roles[i];
    ValueId output = graph.outputs[i];
    if (role.kind != ir::Role::Kind::mutation || output == kNoValue) continue;
    ValueId input = graph.inputs[static_cast<size_t>(role.index)];
    if (places[output].root != output || shown[output] > 1 || shown[input] > 0) continue;
    const ir::ValueInfo& info = graph.values[input];
    if (!same(graph.values[output], info) || overlaps_itself(info.sizes, info.strides)) continue;
    if (reads.end_with(input, output)) schedule.overwritten.emplace_back(output, input);
  }
}

void find_kept(Schedule& schedule) {
  const ir::Graph& graph = schedule.graph;
  std::vector<bool> kept(graph.values.size());
  for (ValueId output : graph.outputs) {
    if (output != kNoValue) kept[schedule.places[output].root] = true;
  }
  for (auto [output, input] : schedule.overwritten) kept[output] = false;
  for (const Operation& operation : graph.operations) {
    if (!operation.primitive || operation.aliases_input()) continue;
    for (int k = 0; k < operation.outputs(); k++) {
      ValueId value = operation.output + static_cast<ValueId>(k);
      if (kept[value]) schedule.kept.push_back(value);
    }
  }
}

}  // namespace fg::schedule

#include "schedule/fuse.h"

#include <algorithm>
#include <map>
#include <set>

namespace fg::schedule {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

namespace {

// More would not fit into registers, and the compiler's time grows faster than the loop.
constexpr size_t kMostOperations = 48, kMostOperands = 24;
static_assert(kMostOperations + kMostOperands <= kMostLoopOperands);

class Fuser {
 public:
  Fuser(const ir::Graph& graph, const std::vector<Place>& places)
      : graph_(graph), places_(places), maker_(graph.values.size(), -1) {}

  std::vector<Group> run() {
    for (uint32_t i = 0; i < graph_.operations.size(); i++) {
      const Operation& operation = graph_.operations[i];
      if (!operation.primitive) continue;
      if (operation.aliases_input() && places_[operation.output].root != operation.output) continue;
      if (is_loop(operation))
        add_to_loop(i, operation);
      else
        add_group(i, operation, false);
    }
    sink();
    join_reductions();
    std::erase_if(groups_, [](const Group& group) { return group.operations.empty(); });
    return std::move(groups_);
  }

 private:
  // A loop whose results are first read by a later one of the same sizes, element by element, moves
  // there: then they need not go through memory, and what it reads alone is read once.
  void sink() {
    std::vector<std::vector<uint32_t>> readers(graph_.values.size());  // of values with memory
    group_of_.assign(graph_.operations.size(), -1);
    for (size_t g = 0; g < groups_.size(); g++) {
      for (uint32_t index : groups_[g].operations) {
        group_of_[index] = static_cast<int64_t>(g);
        for (ValueId input : graph_.operations[index].inputs) {
          if (input != kNoValue) readers[places_[input].root].push_back(index);
        }
      }
    }
    // Backwards: where the readers of a loop end up is known when it is its turn.
    for (size_t g = groups_.size(); g-- > 0;) {
      if (!groups_[g].loop) continue;
      int64_t first = first_reader(g, readers);
      if (first >= 0) move_into(first, g);
    }
  }
  // The first group that reads results of a loop; -1 if none, or not element by element.
  int64_t first_reader(size_t g, const std::vector<std::vector<uint32_t>>& readers) const {
    int64_t first = -1;
    bool aligned = true;
    for (uint32_t index : groups_[g].operations) {
      for (uint32_t reader : readers[graph_.operations[index].output]) {
        int64_t by = group_of_[reader];
        if (by == static_cast<int64_t>(g)) continue;
        if (first >= 0 && by > first) continue;
        if (by != first) aligned = true;
        first = by;
        aligned = aligned && reads_elements(graph_.operations[reader], g);
      }
    }
    return aligned ? first : -1;
  }
  // Whatever the operation reads of the loop it reads element by element.
  bool reads_elements(const Operation& reader, size_t g) const {
    return std::all_of(reader.inputs.begin(), reader.inputs.end(), [&](ValueId input) {
      return input == kNoValue || maker_[places_[input].root] != static_cast<int64_t>(g) ||
             is_element(input, reader);
    });
  }
  void move_into(int64_t to, size_t from) {
    Group &target = groups_[to], &source = groups_[from];
    if (!target.loop || target.operations.empty()) return;
    if (target.operations.size() + source.operations.size() > kMostOperations) return;
    std::set<ValueId> roots = reads_[from].roots;
    for (ValueId root : reads_[to].roots) {
      if (maker_[root] != static_cast<int64_t>(from)) roots.insert(root);
    }
    if (roots.size() > kMostOperands) return;
    for (uint32_t index : source.operations) {
      maker_[graph_.operations[index].output] = to;
      group_of_[index] = to;
    }
    target.operations.insert(target.operations.begin(), source.operations.begin(),
                             source.operations.end());
    reads_[to].roots = std::move(roots);
    source.operations.clear();
  }

  // A reduction of what a loop makes is part of the loop: what only it reads is never stored.
  void join_reductions() {
    for (Group& group : groups_) {
      if (group.loop || group.operations.size() != 1) continue;
      uint32_t index = group.operations[0];
      const Operation& operation = graph_.operations[index];
      if (operation.primitive->combine == ir::Combine::none) continue;
      ValueId input = operation.inputs[0];
      int64_t maker = places_[input].root == input ? maker_[input] : -1;
      if (maker < 0 || !takes_reduction(groups_[maker], operation)) continue;
      group.operations.clear();
      groups_[maker].operations.push_back(index);
      groups_[maker].reductions++;
    }
  }
  bool takes_reduction(const Group& group, const Operation& reduction) const {
    DType dtype = graph_.values[reduction.output].dtype;
    if (!group.loop || !(is_floating(dtype) || dtype == kInt64)) return false;
    if (group.operations.size() >= kMostOperations) return false;
    const Operation& first = graph_.operations[group.operations[0]];
    std::vector<bool> dimensions = reduced_dimensions(graph_, reduction);
    for (uint32_t other : group.reducing()) {
      if (reduced_dimensions(graph_, graph_.operations[other]) != dimensions) return false;
    }
    const Dims& sizes = graph_.values[first.output].sizes;
    return reduction_nest(sizes, dimensions, operand_strides(graph_, group)).has_value();
  }

  struct Reads {
    std::set<ValueId> roots;  // in memory, before the loop
  };

  // With a formula, or a copy.
  static bool is_loop(const Operation& operation) {
    const ir::PrimitiveInfo& primitive = *operation.primitive;
    return primitive.kind == ir::Kind::elementwise && (primitive.formula || !primitive.input_dtype);
  }

  // The first group in which the operation could run: one that makes what it reads element by
  // element, or the one after that.
  int64_t earliest(const Operation& operation) const {
    int64_t first = -1;
    for (ValueId input : operation.inputs) {
      if (input == kNoValue) continue;
      int64_t maker = maker_[places_[input].root];
      if (maker >= 0) first = std::max(first, maker + (is_element(input, operation) ? 0 : 1));
    }
    return first;
  }
  // Element i of the result needs element i of the input, as it was computed.
  bool is_element(ValueId input, const Operation& operation) const {
    return reads_element(graph_, places_, operation, input) && groups_[maker_[input]].loop;
  }

  void add_to_loop(uint32_t index, const Operation& operation) {
    int64_t first = std::max<int64_t>(earliest(operation), 0);
    int64_t found = -1;
    if (first < static_cast<int64_t>(groups_.size()) && takes(first, operation)) found = first;
    auto last = last_loop_.find(text(graph_.values[operation.output].sizes));
    if (found < 0 && last != last_loop_.end() && last->second >= first &&
        takes(last->second, operation) && shares(last->second, operation)) {
      found = last->second;
    }
    if (found < 0)
      add_group(index, operation, true);
    else
      join(found, index, operation);
  }

  bool takes(int64_t at, const Operation& operation) const {
    const Group& group = groups_[at];
    if (!group.loop || group.operations.size() >= kMostOperations) return false;
    // In an earlier loop its memory would be in use as long as if it were computed once.
    if (operation.again && !graph_.operations[group.operations.back()].again) return false;
    if (reads_[at].roots.size() + operation.inputs.size() > kMostOperands) return false;
    ValueId other = graph_.operations[group.operations[0]].output;
    const Dims& sizes = graph_.values[operation.output].sizes;
    return known_equal(graph_.values[other].sizes, sizes) == Known::yes;
  }
  bool shares(int64_t at, const Operation& operation) const {
    return std::any_of(operation.inputs.begin(), operation.inputs.end(), [&](ValueId input) {
      if (input == kNoValue || graph_.values[input].sizes.empty()) return false;
      ValueId root = places_[input].root;
      return maker_[root] == at || reads_[at].roots.contains(root);
    });
  }

  void add_group(uint32_t index, const Operation& operation, bool loop) {
    groups_.push_back({{}, loop});
    reads_.emplace_back();
    join(static_cast<int64_t>(groups_.size()) - 1, index, operation);
  }
  void join(int64_t at, uint32_t index, const Operation& operation) {
    groups_[at].operations.push_back(index);
    for (int k = 0; k < operation.outputs(); k++) maker_[operation.output + k] = at;
    if (!groups_[at].loop) return;
    for (ValueId input : operation.inputs) {
      if (maker_[places_[input].root] != at) reads_[at].roots.insert(places_[input].root);
    }
    last_loop_[text(graph_.values[operation.output].sizes)] = at;
  }

  const ir::Graph& graph_;
  const std::vector<Place>& places_;
  std::vector<int64_t> maker_;     // per value with memory: its group; -1 for inputs and constants
  std::vector<int64_t> group_of_;  // per operation
  std::vector<Group> groups_;
  std::vector<Reads> reads_;
  std::map<std::string, int64_t> last_loop_;  // per sizes
};

}  // namespace

std::vector<std::vector<int64_t>> operand_strides(const ir::Graph& graph, const Group& group) {
  const Dims& sizes = graph.values[graph.operations[group.operations[0]].output].sizes;
  std::set<ValueId> made;
  std::vector<std::vector<int64_t>> strides;
  for (uint32_t index : group.elementwise()) {
    const Operation& operation = graph.operations[index];
    for (ValueId input : operation.inputs) {
      if (!made.contains(input)) strides.push_back(loop_strides(graph.values[input], sizes));
    }
    made.insert(operation.output);
    strides.push_back(loop_strides(graph.values[operation.output], sizes));
  }
  return strides;
}

std::vector<bool> reduced_dimensions(const ir::Graph& graph, const ir::Operation& reduction) {
  static const ir::NoParams none;
  const void* params = reduction.params ? reduction.params.get() : &none;
  return reduction.primitive->reduced(params, graph.values[reduction.inputs[0]].sizes.size());
}

std::vector<Group> fuse(const ir::Graph& graph, const std::vector<Place>& places) {
  return Fuser(graph, places).run();
}

}  // namespace fg::schedule

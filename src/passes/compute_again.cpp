// Where most memory is in use, values lie that were read long ago and are read much later: in a
// training step what the forward made and the backward reads. Those that can cheaply be made of
// what is there later anyway are made a second time, just before that later read, and their memory
// is free in between.
#include "passes/compute_again.h"

#include <algorithm>
#include <iterator>

#include "passes/memory.h"
#include "passes/passes.h"
#include "passes/plan.h"

namespace fg::passes {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

// The gain is an estimate: gaps between values in the block may cost a 32nd of it.
AgainLimits again_limits{.least_bytes = 64 * 1024, .least_part = 32};

namespace {

constexpr uint32_t kNone = ~uint32_t{0};
constexpr int kMostOperations = 8;  // for one value, views counted
constexpr int64_t kSmall = 16;      // a source that has so many times fewer bytes may stay longer

// Cheap next to the products around it, and the same bits each time.
bool is_cheap(const Operation& operation) {
  if (!operation.primitive || must_run(operation)) return false;
  const ir::PrimitiveInfo& primitive = *operation.primitive;
  if (primitive.from_storage) return false;
  if (operation.aliases_input() || primitive.kind == ir::Kind::elementwise) return true;
  return primitive.kind == ir::Kind::extern_call && primitive.independent;  // a few loops over rows
}

// What such operations make for each other is not in memory if no other one runs between them.
bool is_loop(const Operation& operation) {
  return !operation.primitive || operation.aliases_input() ||
         operation.primitive->kind == ir::Kind::elementwise;
}

class Again {
 public:
  explicit Again(ir::Graph& graph)
      : graph_(graph),
        memory_(graph),
        count_(static_cast<uint32_t>(graph.operations.size())),
        made_(graph.values.size(), kNone),
        early_(graph.values.size(), kNone),
        late_(graph.values.size(), kNone),
        last_(graph.values.size(), kNone),
        steps_(graph.operations.size() + 1),
        stays_(graph.values.size()),
        chosen_(graph.values.size()) {
    find_lives();
  }

  void run() {
    std::vector<int64_t> bytes = bytes_in_use();
    if (bytes.empty()) return;
    auto top = std::max_element(bytes.begin(), bytes.end());
    peak_ = static_cast<uint32_t>(top - bytes.begin());
    find_reads();
    if (!choose()) return;
    std::vector<int64_t> less = bytes_in_use();
    int64_t gain = *top - *std::max_element(less.begin(), less.end());
    if (gain > 0 && gain >= *top / again_limits.least_part) rewrite();
  }

 private:
  template <class Body>
  void each_read(uint32_t index, const Body& body) const {
    for (ValueId input : graph_.operations[index].inputs) {
      if (input != kNoValue) body(memory_.root[input]);
    }
  }
  int64_t bytes(ValueId value) const { return bytes_of(graph_.values[value]); }

  void find_lives() {
    for (uint32_t i = 0; i < count_; i++) {
      const Operation& operation = graph_.operations[i];
      for (int k = 0; k < operation.outputs(); k++) {
        ValueId output = operation.output + static_cast<ValueId>(k);
        made_[output] = last_[output] = i;
        if (!operation.primitive) stays_[output] = true;
      }
      each_read(i, [&](ValueId root) { last_[root] = i; });
      steps_[i + 1] = steps_[i] + (is_step(operation) ? 1 : 0);
    }
    for (ValueId output : graph_.outputs) {
      if (output != kNoValue) stays_[memory_.root[output]] = true;
    }
    // The memory of what was saved, or gets new elements, may be that of others after the last
    // read.
    for (size_t i = 0; i < graph_.inputs.size(); i++) {
      if (graph_.input_roles[i].kind != ir::Role::Kind::saved) stays_[graph_.inputs[i]] = true;
    }
    for (const ir::Role& role : graph_.output_roles) {
      if (role.kind != ir::Role::Kind::mutation) continue;
      stays_[graph_.inputs[static_cast<size_t>(role.index)]] = false;
    }
  }
  // Runs by itself and takes its time.
  bool is_step(const Operation& operation) const {
    if (is_loop(operation)) return false;
    int64_t most = 0;
    for (int k = 0; k < operation.outputs(); k++) {
      most = std::max(most, bytes(operation.output + static_cast<ValueId>(k)));
    }
    for (ValueId input : operation.inputs) {
      if (input != kNoValue) most = std::max(most, bytes(input));
    }
    return most >= again_limits.least_bytes;
  }
  // From one loop to the next.
  bool is_passed_on(ValueId value, uint32_t from, uint32_t to) const {
    return is_loop(graph_.operations[made_[value]]) && steps_[from] == steps_[to + 1];
  }
  // While each operation runs, in memory that is the graph's own.
  std::vector<int64_t> bytes_in_use() const {
    std::vector<int64_t> change(count_ + 1);
    auto add = [&](ValueId value, uint32_t from, uint32_t to) {
      change[from] += bytes(value);
      change[to + 1] -= bytes(value);
    };
    for (ValueId value = 0; value < graph_.values.size(); value++) {
      if (made_[value] == kNone || stays_[value] || memory_.root[value] != value) continue;
      if (is_passed_on(value, made_[value], last_[value])) continue;
      if (chosen_[value]) {
        if (early_[value] != kNone) add(value, made_[value], early_[value]);
        add(value, late_[value], last_[value]);
      } else {
        add(value, made_[value], last_[value]);
      }
    }
    change.pop_back();
    for (uint32_t i = 1; i < count_; i++) change[i] += change[i - 1];
    return change;
  }
  // The last read up to the peak, the first one after it.
  void find_reads() {
    for (uint32_t i = 0; i <= peak_; i++) {
      each_read(i, [&](ValueId root) { early_[root] = i; });
    }
    for (uint32_t i = count_; i-- > peak_ + 1;) {
      each_read(i, [&](ValueId root) { late_[root] = i; });
    }
  }

  // In the order in which values are made: what one is made of is decided before.
  bool choose() {
    bool any = false;
    for (uint32_t i = 0; i < peak_; i++) {
      const Operation& operation = graph_.operations[i];
      if (operation.aliases_input() || !is_cheap(operation)) continue;
      for (int k = 0; k < operation.outputs(); k++) {
        ValueId value = operation.output + static_cast<ValueId>(k);
        if (!lies_across_peak(value)) continue;
        int left = kMostOperations;
        chosen_[value] = can_make(value, value, left);
        any |= chosen_[value];
      }
    }
    return any;
  }
  bool lies_across_peak(ValueId value) const {
    if (late_[value] == kNone || memory_.is_shown(value)) return false;
    uint32_t early = early_[value] == kNone ? made_[value] : early_[value];
    return early < peak_ && bytes(value) >= again_limits.least_bytes &&
           !is_passed_on(value, early, late_[value]);
  }
  // From what is there when `whole` is read again.
  bool can_make(ValueId value, ValueId whole, int& left) const {
    if (made_[value] == kNone || left-- == 0) return false;
    const Operation& operation = graph_.operations[made_[value]];
    // What is chosen itself is made once more, not once for each value that is made of it.
    if (!is_cheap(operation) || chosen_[memory_.root[value]]) return false;
    return std::all_of(operation.inputs.begin(), operation.inputs.end(), [&](ValueId input) {
      return is_there(input, whole) || can_make(input, whole, left);
    });
  }
  bool is_there(ValueId value, ValueId whole) const {
    if (value == kNoValue) return true;
    ValueId root = memory_.root[value];
    bool last = last_[root] != kNone && last_[root] >= late_[whole];
    if (chosen_[root]) return last && late_[root] < late_[whole];
    return last || stays_[root] || kSmall * bytes(root) <= bytes(whole);
  }

  // ---- the new operations

  void rewrite() {
    again_.assign(graph_.values.size(), kNoValue);
    passing_ = again_;
    auto& operations = graph_.operations;
    auto after = operations.begin() + peak_ + 1;
    std::vector<Operation> late(std::make_move_iterator(after),
                                std::make_move_iterator(operations.end()));
    operations.erase(after, operations.end());
    for (Operation& operation : late) {
      for (ValueId& input : operation.inputs) {
        if (input == kNoValue || made_[input] > peak_) continue;  // late views have theirs already
        if (chosen_[memory_.root[input]]) input = made_again(input);
      }
      operations.push_back(std::move(operation));
    }
  }
  // A chosen value, or a view of one. All later reads are of the same. Views may be views of views,
  // any number of them: no recursion.
  ValueId made_again(ValueId value) {
    std::vector<ValueId> views;
    for (ValueId one = value; again_[one] == kNoValue;) {
      const Operation& operation = graph_.operations[made_[one]];
      if (!operation.aliases_input()) {
        make_again(one);
        break;
      }
      views.push_back(one);
      one = operation.inputs[0];
    }
    for (size_t i = views.size(); i-- > 0;) {
      Operation copy = graph_.operations[made_[views[i]]];
      copy.inputs[0] = again_[copy.inputs[0]];
      again_[views[i]] = add(std::move(copy));
    }
    return again_[value];
  }
  void make_again(ValueId value) {
    Operation copy = graph_.operations[made_[value]];
    ValueId output = copy.output, outputs = static_cast<ValueId>(copy.outputs());
    std::vector<ValueId> passed;
    for (ValueId& input : copy.inputs) input = source(input, value, passed);
    for (ValueId one : passed) passing_[one] = kNoValue;
    ValueId first = add(std::move(copy));
    for (ValueId k = 0; k < outputs; k++) {
      if (chosen_[output + k]) again_[output + k] = first + k;
    }
  }
  // What `whole` is made of; what is not there any more is made for it alone.
  ValueId source(ValueId value, ValueId whole, std::vector<ValueId>& passed) {
    if (value == kNoValue) return value;
    if (is_there(value, whole)) return chosen_[memory_.root[value]] ? made_again(value) : value;
    if (passing_[value] != kNoValue) return passing_[value];
    Operation copy = graph_.operations[made_[value]];
    ValueId place = value - copy.output;
    for (ValueId& input : copy.inputs) input = source(input, whole, passed);
    passed.push_back(value);
    return passing_[value] = add(std::move(copy)) + place;
  }
  ValueId add(Operation operation) {
    ValueId from = operation.output;
    operation.again = true;
    operation.output = static_cast<ValueId>(graph_.values.size());
    for (int k = 0; k < operation.outputs(); k++) {
      graph_.add_value(ir::ValueInfo(graph_.values[from + static_cast<ValueId>(k)]));
    }
    graph_.operations.push_back(std::move(operation));
    return graph_.operations.back().output;
  }

  ir::Graph& graph_;
  Memory memory_;
  uint32_t count_, peak_ = 0;
  std::vector<uint32_t> made_;                 // by which operation
  std::vector<uint32_t> early_, late_, last_;  // reads of a root: before the peak, after it, at all
  std::vector<uint32_t> steps_;                // operations before each that are no loops
  std::vector<bool> stays_;  // to the end of the run, or is not in the graph's memory
  std::vector<bool> chosen_;
  std::vector<ValueId> again_, passing_;  // what stands for a value: for good, for the next one
};

}  // namespace

void compute_again(ir::Graph& graph) { Again(graph).run(); }

}  // namespace fg::passes

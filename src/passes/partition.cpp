#include "passes/partition.h"

namespace fg::passes {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

namespace {

// Operations that cost nothing to run again: they compute nothing, or from nothing.
bool is_free(const Operation& operation) {
  if (!operation.primitive) return true;
  if (operation.primitive->kind == ir::Kind::view) return true;
  return operation.primitive->kind == ir::Kind::create && operation.inputs.empty();
}

class DefaultPartition {
 public:
  explicit DefaultPartition(const JointGraph& joint)
      : joint_(joint), needed_(joint.graph.values.size()), maker_(needed_.size(), -1) {
    is_input_.resize(needed_.size());
    for (ValueId input : joint.inputs) is_input_[input] = true;
    const auto& operations = joint.graph.operations;
    for (size_t i = 0; i < operations.size(); i++) {
      for (int k = 0; k < operations[i].outputs(); k++) {
        maker_[operations[i].output + static_cast<ValueId>(k)] = static_cast<int64_t>(i);
      }
    }
  }

  std::vector<Saved> run() {
    for (ValueId gradient : joint_.gradients) need(gradient, "it is a gradient");
    const auto& operations = joint_.graph.operations;
    for (size_t i = operations.size(); i-- > joint_.forward_end;) {
      const Operation& operation = operations[i];
      bool wanted = false;
      for (int k = 0; k < operation.outputs(); k++) {
        wanted |= needed_[operation.output + static_cast<ValueId>(k)];
      }
      if (!wanted || !operation.primitive) continue;
      for (ValueId input : operation.inputs) need(input, "read by " + operation.primitive->name);
    }
    return std::move(saved_);
  }

 private:
  // Views may be views of views, any number of them: no recursion.
  void need(ValueId first, const std::string& why) {
    pending_.assign(1, first);
    while (!pending_.empty()) {
      ValueId value = pending_.back();
      pending_.pop_back();
      if (value == kNoValue || needed_[value]) continue;
      needed_[value] = true;
      int64_t maker = maker_[value];
      bool forward = maker >= 0 && static_cast<size_t>(maker) < joint_.forward_end;
      if (maker >= 0 && !forward) continue;
      if (forward && is_free(joint_.graph.operations[static_cast<size_t>(maker)])) {
        const auto& inputs = joint_.graph.operations[static_cast<size_t>(maker)].inputs;
        pending_.insert(pending_.end(), inputs.rbegin(), inputs.rend());
        continue;
      }
      if (maker < 0 && !is_input_[value]) continue;  // a tangent
      saved_.push_back({value, value == first ? why : why + " through a view"});
    }
  }

  const JointGraph& joint_;
  std::vector<bool> needed_, is_input_;
  std::vector<int64_t> maker_;
  std::vector<ValueId> pending_;
  std::vector<Saved> saved_;
};

}  // namespace

std::vector<Saved> partition_default(const JointGraph& joint) {
  return DefaultPartition(joint).run();
}

}  // namespace fg::passes

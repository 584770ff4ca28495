#include "passes/plan.h"

#include <algorithm>

#include "base/fail.h"

namespace fg::passes {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

namespace {

// Why an operation may run a second time.
std::string reason_of(const Operation& operation) {
  if (!operation.primitive) return "a constant";
  if (operation.inputs.empty()) return "made of nothing";
  if (operation.primitive->kind == ir::Kind::view) {
    return fmt::format("a view of %{}", operation.inputs[0]);
  }
  return fmt::format("{} is cheap, and what it reads is there", operation.primitive->name);
}

std::string line(const char* verb, ValueId value, const std::string& why, const ir::Graph& graph) {
  const ir::ValueInfo& info = graph.values[value];
  return fmt::format("{} %{} {}{}: {}\n", verb, value, name(info.dtype), fg::text(info.sizes), why);
}

}  // namespace

std::vector<Recomputed> recomputed_with(const JointGraph& joint, const std::vector<Saved>& saved) {
  const ir::Graph& graph = joint.graph;
  std::vector<bool> kept(graph.values.size()), needed(graph.values.size());
  for (const Saved& one : saved) kept[one.value] = true;
  auto need = [&](ValueId value) {
    if (value != kNoValue && !kept[value]) needed[value] = true;
  };
  for (ValueId gradient : joint.gradients) need(gradient);
  std::vector<Recomputed> result;
  result.reserve(joint.forward_end);
  for (size_t i = graph.operations.size(); i-- > 0;) {
    const Operation& operation = graph.operations[i];
    for (int k = operation.outputs(); k-- > 0;) {
      ValueId output = operation.output + static_cast<ValueId>(k);
      if (!needed[output]) continue;
      for (ValueId input : operation.inputs) need(input);
      if (i < joint.forward_end) result.push_back({output, reason_of(operation)});
    }
  }
  for (ValueId input : joint.inputs) {
    if (!needed[input]) continue;
    fail(ErrorKind::internal, "partition: the backward needs the input %{}, which is not saved",
         input);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

Plan plan_default(const JointGraph& joint) {
  Plan plan{partition_default(joint), {}};
  plan.recomputed = recomputed_with(joint, plan.saved);
  return plan;
}

std::string text(const Plan& plan, const ir::Graph& graph) {
  std::string out;
  for (const Saved& one : plan.saved) out += line("save", one.value, one.why, graph);
  for (const Recomputed& one : plan.recomputed) {
    out += line("compute again", one.value, one.why, graph);
  }
  return out;
}

int64_t bytes_of(const ir::ValueInfo& info) {
  return product(info.sizes).hint() * static_cast<int64_t>(item_size(info.dtype));
}

int64_t saved_bytes(const JointGraph& joint, const std::vector<Saved>& saved) {
  std::vector<bool> there(joint.graph.values.size());
  for (ValueId input : joint.inputs) there[input] = true;
  int64_t bytes = 0;
  for (const Saved& one : saved) {
    if (!there[one.value]) bytes += bytes_of(joint.graph.values[one.value]);
  }
  return bytes;
}

}  // namespace fg::passes

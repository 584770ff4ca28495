// Pass dead_code: drops operations that no output needs and whose absence cannot be noticed, then
// numbers the values that are left in the order in which they are made.
#include "passes/memory.h"
#include "passes/passes.h"

namespace fg::passes {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

// Marks the operations that some output needs, or that the world notices. Random ones may go: how
// many numbers come before each call is written in the others.
static std::vector<bool> needed_operations(const ir::Graph& graph) {
  std::vector<bool> value(graph.values.size()), operation(graph.operations.size());
  auto need = [&](ValueId id) {
    if (id != kNoValue) value[id] = true;
  };
  for (ValueId output : graph.outputs) need(output);
  for (size_t i = graph.operations.size(); i-- > 0;) {
    const Operation& one = graph.operations[i];
    bool needed = must_run(one);
    for (int k = 0; k < one.outputs(); k++) needed |= value[one.output + static_cast<ValueId>(k)];
    operation[i] = needed;
    if (!needed) continue;
    for (ValueId input : one.inputs) need(input);
  }
  return operation;
}

// The new number of every value that is kept.
static std::vector<ValueId> new_numbers(const ir::Graph& graph) {
  std::vector<ValueId> number(graph.values.size(), kNoValue);
  ValueId next = 0;
  for (ValueId input : graph.inputs) number[input] = next++;
  for (const Operation& operation : graph.operations) {
    for (int k = 0; k < operation.outputs(); k++) {
      number[operation.output + static_cast<ValueId>(k)] = next++;
    }
  }
  return number;
}

static void renumber(ir::Graph& graph) {
  std::vector<ValueId> number = new_numbers(graph);
  auto rename = [&](ValueId& value) {
    if (value != kNoValue) value = number[value];
  };
  for (Operation& operation : graph.operations) {
    for (ValueId& input : operation.inputs) rename(input);
    rename(operation.output);
  }
  for (ValueId& input : graph.inputs) rename(input);
  for (ValueId& output : graph.outputs) rename(output);
  for (ValueId& input : graph.consumable) rename(input);
  std::vector<ir::ValueInfo> values(graph.values.size());
  size_t kept = 0;
  for (ValueId value = 0; value < number.size(); value++) {
    if (number[value] == kNoValue) continue;
    values[number[value]] = std::move(graph.values[value]);
    kept++;
  }
  values.resize(kept);
  graph.values = std::move(values);
}

// Whether values are numbered as renumber would.
static bool is_in_order(const ir::Graph& graph) {
  ValueId next = 0;
  for (ValueId input : graph.inputs) {
    if (input != next++) return false;
  }
  for (const Operation& operation : graph.operations) {
    if (operation.output != next) return false;
    next += static_cast<ValueId>(operation.outputs());
  }
  return next == graph.values.size();
}

void dead_code(ir::Graph& graph) {
  std::vector<bool> needed = needed_operations(graph);
  size_t kept = 0;
  for (size_t i = 0; i < graph.operations.size(); i++) {
    if (!needed[i]) continue;
    if (kept != i) graph.operations[kept] = std::move(graph.operations[i]);
    kept++;
  }
  graph.operations.resize(kept);
  if (!is_in_order(graph)) renumber(graph);
}

}  // namespace fg::passes

#include "passes/memory.h"

namespace fg::passes {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

bool has_effect(const Operation& operation) {
  if (!operation.primitive) return false;
  ir::Kind kind = operation.primitive->kind;
  return kind == ir::Kind::collective || kind == ir::Kind::higher_order;
}

bool must_run(const Operation& operation) {
  return has_effect(operation) || (operation.primitive && operation.primitive->raises);
}

Memory::Memory(const ir::Graph& graph)
    : root(graph.values.size()),
      shown(graph.values.size()),
      output(graph.values.size()),
      made(graph.values.size()) {
  for (ValueId value = 0; value < root.size(); value++) root[value] = value;
  for (const Operation& operation : graph.operations) {
    bool shares = operation.aliases_input();
    if (shares) root[operation.output] = root[operation.inputs[0]];
    for (int k = 0; k < operation.outputs(); k++) {
      made[operation.output + static_cast<ValueId>(k)] = operation.primitive && !shares;
    }
    // as_strided sees all of a storage, not only the elements of its input.
    if (operation.primitive && operation.primitive->from_storage)
      shown[root[operation.output]] = true;
  }
  for (ValueId value : graph.outputs) {
    if (value == kNoValue) continue;
    shown[root[value]] = output[value] = true;
  }
}

}  // namespace fg::passes

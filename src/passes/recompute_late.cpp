// Pass recompute_late: moves operations of the forward to just before the backward needs them, by a
// stable sort on the first operation of the backward that depends on each.
#include <algorithm>

#include "passes/memory.h"
#include "passes/passes.h"

namespace fg::passes {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

namespace {

constexpr uint32_t kNone = ~uint32_t{0};

// For every operation the first one of the backward that needs it; of the backward itself, itself.
std::vector<uint32_t> first_needed(const ir::Graph& graph) {
  auto count = static_cast<uint32_t>(graph.operations.size());
  std::vector<uint32_t> value(graph.values.size(), kNone), operation(count);
  for (uint32_t i = count; i-- > 0;) {
    const Operation& one = graph.operations[i];
    uint32_t first = kNone;
    for (int k = 0; k < one.outputs(); k++) {
      first = std::min(first, value[one.output + static_cast<ValueId>(k)]);
    }
    operation[i] = one.backward ? i : first;
    for (ValueId input : one.inputs) {
      if (input != kNoValue) value[input] = std::min(value[input], operation[i]);
    }
  }
  return operation;
}

// The new place of each operation: sorted by the operation that needs it, in the old order among
// equals. An operation is needed no later than its readers, so it stays before them.
std::vector<uint32_t> places_of(const std::vector<uint32_t>& needed) {
  auto count = static_cast<uint32_t>(needed.size());
  std::vector<uint32_t> next(count + 2), places(count);  // the last key: what nothing needs
  auto key = [&](uint32_t i) { return needed[i] == kNone ? count : needed[i]; };
  for (uint32_t i = 0; i < count; i++) next[key(i) + 1]++;
  for (uint32_t i = 0; i <= count; i++) next[i + 1] += next[i];
  for (uint32_t i = 0; i < count; i++) places[i] = next[key(i)]++;
  return places;
}

}  // namespace

// Operations of the backward keep their order, which is that of the eager engine.
void recompute_late(ir::Graph& graph) {
  bool backward = false;
  for (const Operation& operation : graph.operations) {
    bool refuses = must_run(operation) && !operation.backward;
    if (has_effect(operation) || refuses) return;  // effects stay in the order of the user
    backward |= operation.backward;
  }
  if (!backward) return;
  std::vector<uint32_t> places = places_of(first_needed(graph));
  for (size_t i = 0; i < places.size(); i++) {
    while (places[i] != i) {  // in place: new memory for all of them costs more than moving them
      size_t to = places[i];
      std::swap(graph.operations[i], graph.operations[to]);
      std::swap(places[i], places[to]);
    }
  }
}

}  // namespace fg::passes

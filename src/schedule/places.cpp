#include "schedule/places.h"

namespace fg::schedule {

using ir::Operation;
using ir::ValueId;

bool reads_element(const ir::Graph& graph, const std::vector<Place>& places,
                   const Operation& operation, ValueId input) {
  const Dims& sizes = graph.values[operation.output].sizes;
  return places[input].root == input && known_equal(graph.values[input].sizes, sizes) == Known::yes;
}

namespace {

// Elements between the first one of the input and the first one of the view.
int64_t offset_in_input(const Operation& operation, const ir::Graph& graph) {
  static const ir::NoParams none;
  Tensor input = ir::abstract_tensor_of(graph.values[operation.inputs[0]]);
  ir::Operand operand(input);
  ir::Meta meta;
  const void* params = operation.params ? operation.params.get() : &none;
  operation.primitive->infer({&operand, 1}, params, &meta);
  return operation.primitive->shares_input ? 0 : meta.offset.value();
}

}  // namespace

std::vector<Place> find_places(const ir::Graph& graph) {
  std::vector<Place> places(graph.values.size());
  std::vector<bool> given(graph.values.size());
  for (ValueId value = 0; value < places.size(); value++) places[value].root = value;
  for (ValueId input : graph.inputs) given[input] = true;
  for (const Operation& operation : graph.operations) {
    if (!operation.aliases_input()) continue;
    Place base = places[operation.inputs[0]];
    if (operation.primitive->from_storage) {
      if (given[base.root]) continue;
      base.offset = 0;
    }
    places[operation.output] = {base.root, base.offset + offset_in_input(operation, graph)};
  }
  return places;
}

}  // namespace fg::schedule

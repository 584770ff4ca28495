#include "schedule/rows.h"

#include <algorithm>

namespace fg::schedule {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;
using ir::ValueInfo;

namespace {

bool is_dense(const ValueInfo& info) { return is_contiguous(info.sizes, info.strides); }

// The first `count` dimensions whose cuts are all possible, from the coarsest to the finest.
template <class Possible>
std::vector<int64_t> counts_of(const Dims& sizes, size_t count, const Possible& possible) {
  std::vector<int64_t> result;
  int64_t rows = 1;
  for (size_t d = 0; d < count; d++) {
    rows *= sizes[d].value();
    if (rows == 0) return {};
    if (sizes[d].value() > 1 && possible(rows, d + 1)) result.insert(result.begin(), rows);
  }
  return result;
}

std::vector<int64_t> loop_rows(const ir::Graph& graph, const Group& group) {
  const Dims& sizes = graph.values[graph.operations[group.operations[0]].output].sizes;
  for (uint32_t index : group.elementwise()) {
    if (!is_dense(graph.values[graph.operations[index].output])) return {};
  }
  size_t lead = sizes.size();
  for (uint32_t index : group.reducing()) {
    std::vector<bool> reduced = reduced_dimensions(graph, graph.operations[index]);
    auto first = std::find(reduced.begin(), reduced.end(), true) - reduced.begin();
    lead = std::min(lead, static_cast<size_t>(first));
  }
  auto strides = operand_strides(graph, group);
  return counts_of(sizes, lead, [&](int64_t rows, size_t) {
    return falls_on_rows(elementwise_nest(sizes, strides, strides.size() - 1, rows), rows);
  });
}

const ValueInfo* first_operand(const ir::Graph& graph, const Operation& operation) {
  auto found = std::find_if(operation.inputs.begin(), operation.inputs.end(),
                            [](ValueId input) { return input != kNoValue; });
  return found == operation.inputs.end() ? nullptr : &graph.values[*found];
}

size_t independent_dims(const Operation& operation, size_t rank) {
  static const ir::NoParams none;
  const ir::PrimitiveInfo& primitive = *operation.primitive;
  const void* params = operation.params ? operation.params.get() : &none;
  if (primitive.independent) return primitive.independent(params, rank);
  if (!primitive.reduced) return 0;
  std::vector<bool> reduced = primitive.reduced(params, rank);
  return static_cast<size_t>(std::find(reduced.begin(), reduced.end(), true) - reduced.begin());
}

// A value whose first `lead` dimensions are those of `sizes`, with rows that lie evenly apart.
bool has_rows(const ValueInfo& info, const Dims& sizes, size_t lead) {
  if (info.sizes.size() < lead) return false;
  int64_t next = -1;
  for (size_t d = lead; d-- > 0;) {
    int64_t size = info.sizes[d].value(), stride = info.strides[d].value();
    if (size != sizes[d].value()) return false;
    if (size == 1) continue;
    if (next >= 0 && stride != next) return false;
    next = stride * size;
  }
  return true;
}

std::vector<int64_t> kernel_rows(const ir::Graph& graph, const Operation& operation) {
  const ValueInfo* first = first_operand(graph, operation);
  if (!first || operation.is_random() || operation.numbers > 0 || operation.list_input >= 0) {
    return {};
  }
  size_t lead = independent_dims(operation, first->sizes.size());
  for (int k = 0; k < operation.outputs(); k++) {
    if (!is_dense(graph.values[operation.output + static_cast<ValueId>(k)])) return {};
  }
  return counts_of(first->sizes, lead, [&](int64_t, size_t dims) {
    for (int k = 0; k < operation.outputs(); k++) {
      const ValueInfo& made = graph.values[operation.output + static_cast<ValueId>(k)];
      if (!has_rows(made, first->sizes, dims)) return false;
    }
    return std::all_of(operation.inputs.begin(), operation.inputs.end(), [&](ValueId input) {
      return input == kNoValue || !is_cut(graph, operation, input) ||
             has_rows(graph.values[input], first->sizes, dims);
    });
  });
}

}  // namespace

std::vector<int64_t> row_counts(const ir::Graph& graph, const Group& group) {
  return group.loop ? loop_rows(graph, group)
                    : kernel_rows(graph, graph.operations[group.operations[0]]);
}

bool is_cut(const ir::Graph& graph, const Operation& operation, ValueId input) {
  return graph.values[input].sizes.size() == first_operand(graph, operation)->sizes.size();
}

bool reads_own_rows(const ir::Graph& graph, const std::vector<Place>& places, const Group& group,
                    ValueId input, int64_t rows) {
  const Operation& operation = graph.operations[group.operations[0]];
  const ValueInfo& info = graph.values[input];
  if (!group.loop && !is_cut(graph, operation, input)) return false;
  const Dims& sizes = group.loop ? graph.values[operation.output].sizes : info.sizes;
  std::vector<int64_t> strides = loop_strides(info, sizes);
  auto lead = leading_dims(sizes, rows);
  int64_t elements = product(graph.values[places[input].root].sizes).value();
  if (!lead || elements % rows) return false;
  int64_t row = elements / rows, next = row;
  for (size_t d = *lead; d-- > 0;) {
    if (sizes[d].value() == 1) continue;
    if (strides[d] != next) return false;
    next *= sizes[d].value();
  }
  int64_t last = places[input].offset;
  for (size_t d = *lead; d < sizes.size(); d++) last += (sizes[d].value() - 1) * strides[d];
  return last < row;
}

}  // namespace fg::schedule

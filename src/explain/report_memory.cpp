// Memory of one call for explain: the bytes in use at each step, the step of the peak, and the
// bytes of inputs, results and saved values.
#include <algorithm>

#include "explain/report.h"

namespace fg::explain {

using ir::kNoValue;
using ir::ValueId;

namespace {

constexpr size_t kNever = ~size_t{0};

struct Span {
  size_t first = kNever, last = 0;
  void add(size_t step) {
    if (first == kNever) first = step;
    last = std::max(last, step);
  }
};

// From the step that makes a value to the last one that reads it, per value with memory.
std::vector<Span> find_lives(const ir::Graph& graph, const codegen::Listing& listing) {
  std::vector<Span> lives(graph.values.size());
  for (size_t i = 0; i < listing.steps.size(); i++) {
    for (uint32_t index : listing.steps[i].operations) {
      const ir::Operation& operation = graph.operations[index];
      for (int k = 0; k < operation.outputs(); k++) {
        lives[operation.output + static_cast<ValueId>(k)].add(i);
      }
      for (ValueId input : operation.inputs) {
        if (input != kNoValue) lives[listing.places[input].root].add(i);
      }
    }
  }
  return lives;
}

void add_kept(const ir::Graph& graph, const codegen::Listing& listing, MemoryUse& use) {
  std::vector<bool> result(graph.values.size());
  for (size_t i = 0; i < graph.outputs.size(); i++) {
    bool saved = graph.output_roles[i].kind == ir::Role::Kind::saved;
    if (graph.outputs[i] != kNoValue && !saved) {
      result[listing.places[graph.outputs[i]].root] = true;
    }
  }
  for (ValueId value : listing.kept) {
    (result[value] ? use.results : use.saved) += schedule::span_bytes(graph.values[value]);
  }
  for (ValueId value : graph.inputs) use.inputs += schedule::span_bytes(graph.values[value]);
}

}  // namespace

MemoryUse memory_use(const ir::Graph& graph, const codegen::Listing& listing) {
  MemoryUse use;
  use.block = listing.memory.bytes;
  use.consuming = listing.consuming_bytes;
  use.bytes.assign(listing.steps.size(), 0);
  std::vector<Span> lives = find_lives(graph, listing);
  for (ValueId value = 0; value < lives.size(); value++) {
    int64_t offset = listing.memory.offsets[value];
    if (offset < 0 || lives[value].first == kNever) continue;
    int64_t bytes = schedule::span_bytes(graph.values[value]);
    use.lives.push_back({value, offset, bytes, lives[value].first, lives[value].last});
    for (size_t i = lives[value].first; i <= lives[value].last; i++) use.bytes[i] += bytes;
  }
  auto most = std::max_element(use.bytes.begin(), use.bytes.end());
  if (most != use.bytes.end()) use.peak = static_cast<size_t>(most - use.bytes.begin());
  add_kept(graph, listing, use);
  return use;
}

}  // namespace fg::explain

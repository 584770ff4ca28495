// Pass common_subexpressions: finds equal operations by hash and lets the first one stand for the
// others, unless the caller could tell.
#include <algorithm>
#include <bit>

#include "passes/memory.h"
#include "passes/passes.h"

namespace fg::passes {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

namespace {

constexpr int64_t kMostElements = 1024;  // of a constant whose bytes are compared

std::string_view bytes_of(const Tensor& constant) {
  auto bytes = static_cast<size_t>(constant.numel()) * item_size(constant.dtype());
  return {static_cast<const char*>(constant.data_ptr()), bytes};
}

class Merger {
 public:
  explicit Merger(ir::Graph& graph)
      : graph_(graph),
        memory_(graph),
        same_(graph.values.size()),
        seen_(std::bit_ceil(2 * graph.operations.size() + 2), kEmpty) {
    for (ValueId value = 0; value < same_.size(); value++) same_[value] = value;
  }

  void run() {
    size_t kept = 0, count = graph_.operations.size();
    for (size_t i = 0; i < std::min(kAhead, count); i++) prepare(i);
    for (size_t i = 0; i < count; i++) {
      Operation& operation = graph_.operations[i];
      uint64_t hash = hashes_[i % kAhead];
      // An input may have been merged since the hash was computed.
      if (rename_inputs(operation)) hash = hash_of(operation);
      if (i + kAhead < count) prepare(i + kAhead);
      if (!is_repeatable(operation)) {
        keep(i, kept);
        continue;
      }
      uint64_t& slot = find(operation, hash);
      if (slot == kEmpty) {
        slot = (hash & kTag) | keep(i, kept);
      } else if (!merge(graph_.operations[slot & kPlace], operation)) {
        keep(i, kept);
      }
    }
    graph_.operations.resize(kept);
    for (ValueId& output : graph_.outputs) rename(output);
  }

 private:
  // Half of a slot is where the operation is, the other half of its hash.
  static constexpr uint64_t kEmpty = ~uint64_t{0}, kPlace = 0xffffffff, kTag = ~kPlace;
  static constexpr size_t kAhead = 16;

  bool rename(ValueId& value) const {
    if (value == kNoValue || same_[value] == value) return false;
    value = same_[value];
    return true;
  }
  bool rename_inputs(Operation& operation) const {
    bool changed = false;
    for (ValueId& input : operation.inputs) changed |= rename(input);
    return changed;
  }
  // Slots are all over the memory: asking for them early hides how long they take to come.
  void prepare(size_t i) {
    Operation& operation = graph_.operations[i];
    rename_inputs(operation);
    uint64_t hash = hash_of(operation);
    hashes_[i % kAhead] = hash;
    __builtin_prefetch(&seen_[hash & (seen_.size() - 1)]);
  }
  size_t keep(size_t from, size_t& kept) {
    if (kept != from) graph_.operations[kept] = std::move(graph_.operations[from]);
    return kept++;
  }
  // A check said once is said.
  static bool is_repeatable(const Operation& operation) {
    if (!operation.primitive) return true;
    ir::Kind kind = operation.primitive->kind;
    return kind != ir::Kind::random && kind != ir::Kind::collective &&
           kind != ir::Kind::higher_order;
  }
  static bool has_params(const Operation& operation) {
    return operation.primitive && operation.params && !operation.primitive->params->empty;
  }
  // Parameters are compared by their text: that tells -0.0 from 0.0, and one nan is the other.
  const std::string& print(const Operation& operation, std::string& out) const {
    out.clear();
    operation.primitive->params->print(out, operation.params.get());
    return out;
  }
  static void mix(uint64_t& hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  uint64_t hash_of(const Operation& operation) {
    uint64_t hash = reinterpret_cast<uintptr_t>(operation.primitive);
    for (ValueId input : operation.inputs) mix(hash, input);
    auto mix_text = [&](std::string_view text) { mix(hash, std::hash<std::string_view>()(text)); };
    if (has_params(operation)) mix_text(print(operation, text_));
    const Tensor& constant = operation.constant;
    if (!operation.primitive && constant.is_contiguous() && constant.numel() <= kMostElements) {
      mix_text(bytes_of(constant));
    }
    return hash;
  }
  // The slot of an operation that is the same, or an empty one.
  uint64_t& find(const Operation& operation, uint64_t hash) {
    size_t mask = seen_.size() - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      uint64_t& slot = seen_[at];
      if (slot == kEmpty) return slot;
      if ((slot & kTag) != (hash & kTag)) continue;
      if (is_same(graph_.operations[slot & kPlace], operation)) return slot;
    }
  }
  static bool is_same_constant(const Tensor& a, const Tensor& b) {
    if (a.data_ptr() == b.data_ptr()) return true;  // sizes and strides were compared
    return a.is_contiguous() && b.is_contiguous() && a.numel() <= kMostElements &&
           bytes_of(a) == bytes_of(b);
  }
  bool is_same(const Operation& a, const Operation& b) {
    if (a.primitive != b.primitive || a.inputs != b.inputs || a.list_input != b.list_input ||
        a.list_count != b.list_count || a.numbers != b.numbers) {
      return false;
    }
    for (ValueId k = 0; k < static_cast<ValueId>(a.outputs()); k++) {
      if (!same(graph_.values[a.output + k], graph_.values[b.output + k])) return false;
    }
    if (!a.primitive) return is_same_constant(a.constant, b.constant);
    if (a.params == b.params || !has_params(a)) return true;
    return print(a, text_) == print(b, other_text_);
  }

  // Lets `known` stand for `again` too, unless the caller could tell: two outputs would become one,
  // or two memories.
  bool merge(const Operation& known, const Operation& again) {
    bool known_shown = false, again_shown = false;
    bool shares = known.aliases_input();  // then they share a memory already
    for (ValueId k = 0; k < static_cast<ValueId>(known.outputs()); k++) {
      ValueId a = known.output + k, b = again.output + k;
      known_shown |= shares ? memory_.is_output(a) : memory_.is_shown(a);
      again_shown |= shares ? memory_.is_output(b) : memory_.is_shown(b);
    }
    if (known_shown && again_shown) return false;
    for (ValueId k = 0; k < static_cast<ValueId>(known.outputs()); k++) {
      ValueId a = known.output + k, b = again.output + k;
      same_[b] = a;
      if (memory_.output[b]) memory_.output[a] = true;
      if (memory_.is_shown(b)) memory_.shown[memory_.root[a]] = true;
    }
    return true;
  }

  ir::Graph& graph_;
  Memory memory_;
  std::vector<ValueId> same_;      // the value that stands for it
  std::vector<uint64_t> seen_;     // operations, by open addressing
  uint64_t hashes_[kAhead] = {};   // of the operations that come next
  std::string text_, other_text_;  // of parameters
};

}  // namespace

void common_subexpressions(ir::Graph& graph) { Merger(graph).run(); }

}  // namespace fg::passes

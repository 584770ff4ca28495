// Pass fold_constants: runs operations on small constants with the eager kernels and puts constants
// in their place.
#include "base/error.h"
#include "passes/memory.h"
#include "passes/passes.h"

namespace fg::passes {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

namespace {

constexpr int64_t kMostElements = 1024;

class Folder {
 public:
  explicit Folder(ir::Graph& graph) : graph_(graph), memory_(graph), known_(graph.values.size()) {}

  void run() {
    std::vector<Operation> more;  // constants for further results of an operation
    std::vector<size_t> after;    // the operations that they follow
    for (size_t i = 0; i < graph_.operations.size(); i++) {
      Operation& operation = graph_.operations[i];
      // A tensor of one value, or a sequence, is shortest as it is: only what is computed from it
      // is folded.
      if (!evaluate(operation) || operation.primitive->kind == ir::Kind::create) continue;
      for (int k = 1; k < operation.outputs(); k++) {
        more.push_back(constant(operation, k));
        after.push_back(i);
      }
      operation = constant(operation, 0);
    }
    if (!more.empty()) insert(std::move(more), after);
  }

 private:
  Operation constant(const Operation& operation, int k) const {
    Operation result;
    result.output = operation.output + static_cast<ValueId>(k);
    result.constant = known_[result.output];
    result.source = operation.source;
    result.backward = operation.backward;
    return result;
  }
  void insert(std::vector<Operation> more, const std::vector<size_t>& after) {
    std::vector<Operation> all;
    all.reserve(graph_.operations.size() + more.size());
    size_t next = 0;
    for (size_t i = 0; i < graph_.operations.size(); i++) {
      all.push_back(std::move(graph_.operations[i]));
      while (next < more.size() && after[next] == i) all.push_back(std::move(more[next++]));
    }
    graph_.operations = std::move(all);
  }
  bool is_small(ValueId value) const {
    const Dims& sizes = graph_.values[value].sizes;
    for (Dim size : sizes) {
      if (!size.is_constant()) return false;
    }
    return product(sizes).value() <= kMostElements;
  }
  // Others are known, but stay as they are: the text of a constant has no strides.
  bool is_contiguous(ValueId value) const {
    const ir::ValueInfo& info = graph_.values[value];
    return same(info.strides, contiguous_strides(info.sizes));
  }
  bool can_fold(const Operation& operation) const {
    const ir::PrimitiveInfo& primitive = *operation.primitive;
    if (operation.is_random() || primitive.unspecified || primitive.from_storage) return false;
    if (primitive.kind == ir::Kind::collective || primitive.kind == ir::Kind::higher_order)
      return false;
    for (ValueId input : operation.inputs) {
      if (input != kNoValue && !known_[input].defined()) return false;
    }
    for (int k = 0; k < operation.outputs(); k++) {
      ValueId output = operation.output + static_cast<ValueId>(k);
      // Outputs are made anew in every run: the caller may write to them.
      if (!is_small(output) || memory_.is_shown(output)) return false;
    }
    return true;
  }
  // Puts the results into known_; whether constants can take their place.
  bool evaluate(const Operation& operation) {
    if (!operation.primitive) {
      if (is_small(operation.output)) known_[operation.output] = operation.constant;
      return false;
    }
    if (!can_fold(operation)) return false;
    Eagerly eagerly;
    Tensor outputs[ir::kMostOutputs];
    try {
      ir::OperationOperands operands(operation, known_.data());
      ir::OperationParams params(operation, known_.data());
      ir::evaluate(*operation.primitive, operands.get(), params.get(), outputs);
    } catch (const Error&) {
      return false;  // an index out of range, a division by zero: refused when it runs
    }
    bool contiguous = true;
    for (int k = 0; k < operation.outputs(); k++) {
      ValueId output = operation.output + static_cast<ValueId>(k);
      outputs[k].impl()->wrapped_number = graph_.values[output].number;
      known_[output] = outputs[k];
      contiguous &= is_contiguous(output);
    }
    return contiguous;
  }

  ir::Graph& graph_;
  Memory memory_;
  Tensors known_;  // by value; undefined: not a constant
};

}  // namespace

void fold_constants(ir::Graph& graph) { Folder(graph).run(); }

}  // namespace fg::passes

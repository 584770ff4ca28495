#include "codegen/loop.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "ir/scalar.h"

namespace fg::codegen {

using ir::Expr;
using ir::Operation;
using ir::ValueId;

std::string LoopKernel::text() const {
  std::string out;
  for (size_t i = 0; i + 1 < sizes.size(); i++) out += fmt::format("{} ", sizes[i]);
  if (!is_flat()) out += fmt::format("{} ", sizes.back());
  for (const LoopOperand& operand : operands) {
    out += fmt::format("{}[{}] ", name(operand.dtype), fmt::join(operand.strides, ","));
  }
  return out + fmt::format("{}\n", inputs) + ir::to_text(program);
}

namespace {

class Lowering {
 public:
  Lowering(const Surroundings& around, const passes::Group& group)
      : graph_(around.graph), constants_(around.constants) {
    ValueId first = graph_.operations[group.operations[0]].output;
    sizes_ = graph_.values[first].sizes;
    for (uint32_t index : group.operations) add(graph_.operations[index]);
    loop_.kernel.inputs = loop_.operands.size();
    std::vector<Expr> results;
    for (uint32_t index : group.operations) {
      ValueId value = graph_.operations[index].output;
      if (!around.stored[value]) continue;
      results.push_back(values_.at(value));
      add_operand(value);
    }
    loop_.kernel.program = ir::Program(results);
  }

  Loop take() {
    order_loops();
    merge_loops();
    auto& sizes = loop_.kernel.sizes;
    loop_.row = sizes.back();
    loop_.length = std::accumulate(sizes.begin(), sizes.end() - 1, int64_t{1}, std::multiplies<>());
    if (loop_.kernel.is_flat()) std::swap(loop_.row, loop_.length);
    return std::move(loop_);
  }

 private:
  void add_operand(ValueId value) {
    const ir::ValueInfo& info = graph_.values[value];
    LoopOperand operand{info.dtype, std::vector<int64_t>(sizes_.size())};
    size_t shift = sizes_.size() - info.sizes.size();
    for (size_t d = 0; d < info.sizes.size(); d++) {
      if (info.sizes[d].value() != 1) operand.strides[d + shift] = info.strides[d].value();
    }
    loop_.operands.push_back(value);
    loop_.kernel.operands.push_back(std::move(operand));
  }

  // A value as the operations of the loop see it, in its own dtype.
  const Expr& value(ValueId id) {
    auto found = values_.find(id);
    if (found != values_.end()) return found->second;
    const Tensor* constant = constants_[id];
    if (constant && constant->numel() == 1) {
      return values_.emplace(id, number(*constant)).first->second;
    }
    int index = static_cast<int>(loop_.operands.size());
    add_operand(id);
    return values_.emplace(id, Expr::input(index, graph_.values[id].dtype)).first->second;
  }

  static Expr number(const Tensor& constant) {
    Scalar value = constant.item();
    DType dtype = constant.dtype();
    if (ir::compute_dtype(dtype) != dtype) {
      return ir::convert(Expr::constant(DType::f32, value.to_double()), dtype);
    }
    return value.is_floating() ? Expr::constant(dtype, value.to_double())
                               : Expr::constant(dtype, value.to_int());
  }

  void add(const Operation& operation) {
    const ir::PrimitiveInfo& primitive = *operation.primitive;
    DType out = graph_.values[operation.output].dtype;
    std::vector<Expr> inputs;
    for (ValueId input : operation.inputs) inputs.push_back(value(input));
    Expr result = primitive.formula ? apply(operation, inputs) : inputs[0];
    values_.emplace(operation.output, ir::convert(result, out));
  }

  Expr apply(const Operation& operation, std::vector<Expr>& inputs) {
    static const ir::NoParams none;
    Tensors tensors;
    for (ValueId input : operation.inputs) {
      tensors.push_back(ir::abstract_tensor_of(graph_.values[input]));
    }
    std::vector<ir::Operand> operands(tensors.begin(), tensors.end());
    for (size_t i = 0; i < inputs.size(); i++) {
      DType wanted = operation.primitive->input_dtype(operands, static_cast<int>(i));
      inputs[i] = ir::convert(ir::convert(inputs[i], wanted), ir::compute_dtype(wanted));
    }
    const void* params = operation.params ? operation.params.get() : &none;
    return operation.primitive->formula(inputs, params);
  }

  // What is written decides which loop is the innermost; a loop of one turn is none.
  void order_loops() {
    std::vector<size_t> order;
    for (size_t d = 0; d < sizes_.size(); d++) {
      if (sizes_[d].value() != 1) order.push_back(d);
    }
    const auto& written = loop_.kernel.operands[loop_.kernel.inputs].strides;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return written[a] > written[b]; });
    for (size_t d : order) loop_.kernel.sizes.push_back(sizes_[d].value());
    if (order.empty()) loop_.kernel.sizes = {1};
    for (LoopOperand& operand : loop_.kernel.operands) {
      std::vector<int64_t> strides;
      for (size_t d : order) strides.push_back(operand.strides[d]);
      if (order.empty()) strides = {1};
      operand.strides = std::move(strides);
    }
  }

  // Two loops are one where every operand goes on from one row to the next.
  void merge_loops() {
    auto& [sizes, operands, inputs, program] = loop_.kernel;
    for (size_t d = sizes.size() - 1; d > 0; d--) {
      bool one = std::all_of(operands.begin(), operands.end(), [&](const LoopOperand& operand) {
        return operand.strides[d - 1] == operand.strides[d] * sizes[d];
      });
      if (!one) continue;
      sizes[d - 1] *= sizes[d];
      sizes.erase(sizes.begin() + static_cast<int64_t>(d));
      for (LoopOperand& operand : operands)
        operand.strides.erase(operand.strides.begin() + static_cast<int64_t>(d) - 1);
    }
  }

  const ir::Graph& graph_;
  const std::vector<const Tensor*>& constants_;
  Dims sizes_;
  Loop loop_;
  std::map<ValueId, Expr> values_;
};

}  // namespace

Loop make_loop(const Surroundings& around, const passes::Group& group) {
  return Lowering(around, group).take();
}

}  // namespace fg::codegen

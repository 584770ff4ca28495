#include "codegen/loop.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

#include "ir/math_basic.h"
#include "ir/scalar.h"
#include "ops/reduce/reduce_kernel.h"

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
    if (operand.period > 0) out += fmt::format("period {} ", operand.period);
  }
  for (ir::Combine combine : reductions) out += fmt::format("{} ", name(combine));
  if (!reductions.empty()) {
    out += fmt::format("units {} of {} ", blocks, unit_loops);
    if (columns > 1) out += fmt::format("columns {} of {} ", columns, units);
  }
  return out + fmt::format("{}\n", inputs) + ir::to_text(program);
}

const char* name(ir::Combine combine) {
  static constexpr const char* kNames[] = {"none", "sum", "product", "maximum", "minimum"};
  return kNames[static_cast<size_t>(combine)];
}

Expr combined(ir::Combine combine, const Expr& a, const Expr& b) {
  switch (combine) {
    case ir::Combine::prod:
      return a * b;
    case ir::Combine::max:
      return ir::maximum(a, b);
    case ir::Combine::min:
      return ir::minimum(a, b);
    default:
      return a + b;
  }
}

Expr identity_of(ir::Combine combine, DType dtype) {
  if (combine == ir::Combine::sum || combine == ir::Combine::prod) {
    return Expr::constant(dtype, combine == ir::Combine::sum ? 0 : 1);
  }
  bool lowest = combine == ir::Combine::max;
  using Whole = std::numeric_limits<int64_t>;
  if (dtype == DType::i64) return Expr::constant(dtype, lowest ? Whole::lowest() : Whole::max());
  double infinity = std::numeric_limits<double>::infinity();
  return Expr::constant(dtype, lowest ? -infinity : infinity);
}

namespace {

class Lowering {
 public:
  Lowering(const Surroundings& around, const schedule::Group& group)
      : graph_(around.graph), constants_(around.constants), rows_(group.rows) {
    ValueId first = graph_.operations[group.operations[0]].output;
    sizes_ = graph_.values[first].sizes;
    for (uint32_t index : group.elementwise()) add(graph_.operations[index]);
    loop_.kernel.inputs = loop_.operands.size();
    std::vector<Expr> results;
    for (uint32_t index : group.elementwise()) {
      ValueId value = graph_.operations[index].output;
      if (!around.stored[value]) continue;
      results.push_back(values_.at(value));
      add_operand(value);
    }
    std::vector<const Operation*> reductions;
    for (uint32_t index : group.reducing()) {
      const Operation& operation = graph_.operations[index];
      if (around.stored[operation.output]) reductions.push_back(&operation);
    }
    make_nest(reductions);
    for (const Operation* operation : reductions) results.push_back(reduction(*operation));
    loop_.kernel.program = ir::Program(results);
    count_work();
  }

  Loop take() { return std::move(loop_); }

 private:
  void add_operand(ValueId value) {
    const ir::ValueInfo& info = graph_.values[value];
    loop_.operands.push_back(value);
    loop_.kernel.operands.push_back({info.dtype, schedule::loop_strides(info, sizes_), 0});
  }

  void make_nest(const std::vector<const Operation*>& reductions) {
    LoopKernel& kernel = loop_.kernel;
    std::vector<std::vector<int64_t>> strides;
    for (const LoopOperand& operand : kernel.operands) strides.push_back(operand.strides);
    schedule::Nest nest;
    if (reductions.empty()) {
      nest = schedule::elementwise_nest(sizes_, strides, kernel.inputs, rows_);
    } else {
      auto dimensions = schedule::reduced_dimensions(graph_, *reductions[0]);
      nest = *schedule::reduction_nest(sizes_, dimensions, std::move(strides));
    }
    kernel.sizes = std::move(nest.sizes);
    kernel.unit_loops = nest.unit_loops;
    kernel.blocks = nest.blocks;
    kernel.units = nest.units;
    kernel.columns = nest.columns;
    for (size_t k = 0; k < kernel.operands.size(); k++) {
      kernel.operands[k].strides = std::move(nest.strides[k]);
      kernel.operands[k].period = nest.periods[k];
    }
  }

  // Combined in the dtype in which kernels accumulate.
  Expr reduction(const Operation& operation) {
    DType dtype = ir::compute_dtype(graph_.values[operation.output].dtype);
    loop_.kernel.reductions.push_back(operation.primitive->combine);
    loop_.operands.push_back(operation.output);
    loop_.kernel.operands.push_back({dtype, {}, 0});
    return ir::convert(values_.at(operation.inputs[0]), dtype);
  }

  void count_work() {
    const LoopKernel& kernel = loop_.kernel;
    int64_t outer = 1, inner = 1;
    size_t unit = kernel.sizes.size() - std::max<size_t>(kernel.unit_loops, 1);
    for (size_t d = 0; d < kernel.sizes.size(); d++) {
      (d < unit ? outer : inner) *= kernel.sizes[d];
    }
    loop_.length = outer * kernel.blocks;
    const int64_t block = kernels::kReduceBlock * kernel.columns;
    loop_.row = std::min(inner, kernel.blocks > 1 ? block : inner);
    if (kernel.is_flat()) std::swap(loop_.row, loop_.length);
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
    std::vector<Expr> numbers(inputs.end() - operation.numbers, inputs.end());
    inputs.resize(inputs.size() - numbers.size(), inputs[0]);
    ir::SymbolExpressions symbols(numbers);
    Expr result = primitive.formula ? apply(operation, inputs) : inputs[0];
    values_.emplace(operation.output, ir::convert(result, out));
  }

  Expr apply(const Operation& operation, std::vector<Expr>& inputs) {
    static const ir::NoParams none;
    Tensors tensors;
    for (size_t i = 0; i < inputs.size(); i++) {
      tensors.push_back(ir::abstract_tensor_of(graph_.values[operation.inputs[i]]));
    }
    std::vector<ir::Operand> operands(tensors.begin(), tensors.end());
    for (size_t i = 0; i < inputs.size(); i++) {
      DType wanted = operation.primitive->input_dtype(operands, static_cast<int>(i));
      inputs[i] = ir::convert(ir::convert(inputs[i], wanted), ir::compute_dtype(wanted));
    }
    const void* params = operation.params ? operation.params.get() : &none;
    return operation.primitive->formula(inputs, params);
  }

  const ir::Graph& graph_;
  const std::vector<const Tensor*>& constants_;
  int64_t rows_;  // between which the work is cut; 0: anywhere
  Dims sizes_;
  Loop loop_;
  std::map<ValueId, Expr> values_;
};

}  // namespace

Loop make_loop(const Surroundings& around, const schedule::Group& group) {
  return Lowering(around, group).take();
}

}  // namespace fg::codegen

#include "ir/graph.h"

#include <algorithm>

namespace fg::ir {

ValueInfo info_of(const Tensor& tensor) {
  return {tensor.sizes(), tensor.strides(), tensor.dtype(), tensor.impl()->wrapped_number};
}

// A storage of unknown length does not exist: where symbols are, shape rules see the layout alone.
Tensor abstract_tensor_of(const ValueInfo& info) {
  auto is_constant = [](Dim dim) { return dim.is_constant(); };
  const bool constant = std::ranges::all_of(info.sizes, is_constant) &&
                        std::ranges::all_of(info.strides, is_constant);
  Tensor result = constant ? abstract_tensor(info.sizes, info.strides, 0, info.dtype)
                           : abstract_tensor(info.sizes, info.dtype);
  if (!constant) result.impl()->set_layout(info.sizes, info.strides);
  result.impl()->wrapped_number = info.number;
  return result;
}

Dims strides_of(const Meta& meta) {
  if (meta.like) return meta.like->strides;
  bool strided = meta.strides.size() == meta.sizes.size();
  return strided ? meta.strides : contiguous_strides(meta.sizes);
}

const char* name(Role::Kind kind) {
  static constexpr const char* kNames[] = {"argument", "parameter", "seed",  "tangent", "output",
                                           "mutation", "gradient",  "saved", "token"};
  return kNames[static_cast<int>(kind)];
}

std::string Role::text() const {
  std::string out = std::string(ir::name(kind)) + " " + std::to_string(index);
  return name.empty() ? out : out + " \"" + name + "\"";
}

ValueId Graph::add_value(ValueInfo info) {
  values.push_back(std::move(info));
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::add_input(ValueInfo info, Role role) {
  inputs.push_back(add_value(std::move(info)));
  input_roles.push_back(std::move(role));
  return inputs.back();
}

void Graph::add_output(ValueId value, Role role) {
  outputs.push_back(value);
  output_roles.push_back(std::move(role));
}

OperationOperands::OperationOperands(const Operation& operation, const Tensor* values) {
  static const Tensor undefined;
  const auto& inputs = operation.inputs;
  size_t extra = static_cast<size_t>(operation.numbers) + (operation.is_random() ? 1 : 0);
  size_t count = inputs.size() - std::min(inputs.size(), extra);
  auto at = [&](size_t i) -> const Tensor& {
    return inputs[i] == kNoValue ? undefined : values[inputs[i]];
  };
  operands_.reserve(count);
  for (size_t i = 0; i < count;) {
    if (static_cast<int>(operands_.size()) == operation.list_input) {
      for (int e = 0; e < operation.list_count; e++) list_.push_back(at(i++));
      operands_.emplace_back(list_);
    } else {
      operands_.emplace_back(at(i++));
    }
  }
  if (operation.list_count == 0 && static_cast<int>(operands_.size()) == operation.list_input) {
    operands_.emplace_back(list_);  // an empty list at the end
  }
}

OperationParams::OperationParams(const Operation& operation, const Tensor* values) {
  static const NoParams none;
  params_ = operation.params ? operation.params.get() : &none;
  if (operation.numbers == 0) return;
  const auto& inputs = operation.inputs;
  size_t first = inputs.size() - (operation.is_random() ? 1 : 0) - operation.numbers;
  auto value_of = [&](uint32_t symbol) { return values[inputs[first + symbol - 1]].item(); };
  filled_ = operation.primitive->params->replace_symbols(params_, value_of);
  params_ = filled_.get();
}

int count_symbols(const Operation& operation) {
  if (!operation.params || !operation.primitive->params->replace_symbols) return 0;
  uint32_t most = 0;
  operation.primitive->params->replace_symbols(operation.params.get(), [&](uint32_t symbol) {
    most = std::max(most, symbol);
    return Scalar();
  });
  return static_cast<int>(most);
}

}  // namespace fg::ir

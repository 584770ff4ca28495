#include "autograd/op_node.h"

#include <bit>

#include "base/fail.h"
#include "ir/value.h"

namespace fg::autograd {

OpNode::OpNode(const ir::Gradient& gradient, ir::Arguments arguments)
    : gradient_(gradient), arguments_(std::move(arguments)) {}

size_t OpNode::flat(int input, int element) const {
  return input + element + (list_input_ >= 0 && input > list_input_ ? list_count_ - 1 : 0);
}

// Where a saved input lies: saved ones in order of input, lists spread out.
size_t OpNode::slot(uint32_t bits, int index, int element) const {
  uint32_t before = bits & ((1u << index) - 1);
  size_t position = std::popcount(before) + element;
  if (list_input_ >= 0 && (before >> list_input_ & 1)) position += list_count_ - 1;
  return position;
}

void OpNode::connect(ir::Operands inputs, const Tensor* original) {
  inputs_ = static_cast<int>(inputs.size());
  uint32_t requiring = 0;
  for (int i = 0; i < inputs_; i++) {
    if (inputs[i].count != 1) {
      list_input_ = i;
      list_count_ = inputs[i].count;
    }
    for (const Tensor& tensor : inputs[i].all()) {
      bool tracked = tensor.defined() && (tensor.impl()->autograd || modes.capturing);
      Edge edge = tracked ? gradient_edge(tensor) : Edge{};
      if (edge.is_valid()) requiring |= 1u << i;
      add_next_edge(std::move(edge));
    }
  }
  for (const ir::Rule& rule : gradient_.rules) {
    if (rule.wrt & requiring) saves_ = saves_ | rule.saves;
  }
  for (int i = 0; i < inputs_; i++) {
    if (!((saves_.in | saves_.shapes) >> i & 1)) continue;
    for (const Tensor& tensor : inputs[i].all()) {
      const Tensor& value = i == 0 && original && original->defined() ? *original : tensor;
      if (saves_.in >> i & 1) saved_.emplace_back(value, false);
      if (saves_.shapes >> i & 1) {
        auto& shape = shapes_.emplace_back();
        if (tensor.defined()) shape = ir::shape_of(tensor);
      }
    }
  }
  saved_inputs_ = saved_.size();
}

void OpNode::save_outputs(std::span<const Tensor> outputs, bool inplace_on_view) {
  if (saves_.out == 0) return;
  for (size_t i = 0; i < outputs.size(); i++) {
    if (saves_.out >> i & 1) saved_.emplace_back(outputs[i], true, inplace_on_view);
  }
}

Tensor OpNode::unpack_input(int input, int element) {
  return saved_[slot(saves_.in, input, element)].unpack(this);
}

Tensor OpNode::unpack_output(int output) {
  return saved_[saved_inputs_ + std::popcount(saves_.out & ((1u << output) - 1))].unpack(this);
}

const ir::ShapeOf& OpNode::shape(int input, int element) {
  return shapes_[slot(saves_.shapes, input, element)];
}

bool OpNode::needs(int input, int element) { return should_compute(flat(input, element)); }

void OpNode::run_rule(const ir::Rule& rule, const Tensors& grads, Tensors& results) {
  bool needed = false;
  for (int i = 0; i < inputs_; i++) {
    if (!(rule.wrt >> i & 1)) continue;
    for (int e = 0; e < list_size(i); e++) needed |= needs(i, e);
  }
  if (!needed) return;
  Tensors computed;
  rule.run(ir::Vjp(*this, grads, rule.saves, gradient_.node_name), arguments_.get(), computed);
  size_t next = 0;
  for (int i = 0; i < inputs_; i++) {
    if (!(rule.wrt >> i & 1)) continue;
    for (int e = 0; e < list_size(i); e++, next++) {
      if (needs(i, e)) results[flat(i, e)] = std::move(computed.at(next));
    }
  }
}

Tensors OpNode::apply(Tensors&& grads) {
  Tensors results(next_edges().size());
  bool any = false;
  for (const Tensor& grad : grads) any |= grad.defined();
  if (!any) return results;
  Locked locked(lock_);
  if (released_) refuse_freed(*this);
  for (const ir::Rule& rule : gradient_.rules) run_rule(rule, grads, results);
  return results;
}

void OpNode::release_variables() {
  Locked locked(lock_);
  // A node that saved nothing can run again, as in PyTorch.
  released_ = !saved_.empty();
  for (SavedValue& value : saved_) value.reset();
}

// The argument that an input is: inputs are the tensor arguments in order.
static std::string_view input_name(const ir::Schema& schema, int input) {
  for (size_t i = 0; i < schema.argument_count; i++) {
    if (schema.arguments[i].type <= ir::Type::opt_tensors && input-- == 0) {
      return schema.arguments[i].name;
    }
  }
  return {};
}

bool OpNode::may_save(std::string_view input) const {
  for (int i = 0; i < inputs_ && gradient_.schema; i++) {
    if (input_name(*gradient_.schema, i) != input) continue;
    for (const ir::Rule& rule : gradient_.rules) {
      if (rule.saves.in >> i & 1) return true;
    }
  }
  return false;
}

bool OpNode::find_argument(std::string_view name, ir::Value& value) const {
  if (!gradient_.schema || !gradient_.box_arguments || !arguments_.get()) return false;
  std::vector<ir::Value> values = gradient_.box_arguments(arguments_.get());
  size_t next = 0;
  for (size_t i = 0; i < gradient_.schema->argument_count; i++) {
    const ir::Argument& argument = gradient_.schema->arguments[i];
    if (argument.type <= ir::Type::opt_tensors) continue;
    if (argument.name == name) return value = std::move(values.at(next)), true;
    next++;
  }
  return false;
}

std::string OpNode::saved_name(size_t index) const {
  const ir::Schema* schema = gradient_.schema;
  auto place = static_cast<int>(index);
  for (int i = 0; i < inputs_; i++) {
    if (!(saves_.in >> i & 1)) continue;
    if (place < elements(i)) return schema ? std::string(input_name(*schema, i)) : "self";
    place -= elements(i);
  }
  bool several = schema && schema->return_count > 1;
  for (int i = 0; i < 32; i++) {
    if ((saves_.out >> i & 1) && place-- == 0) {
      return several ? fmt::format("result{}", i) : "result";
    }
  }
  return {};
}

}  // namespace fg::autograd

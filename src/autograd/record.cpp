// Recording calls: the functions that ir/record.h asks for.
#include "ir/record.h"

#include <algorithm>

#include "autograd/active_hooks.h"
#include "autograd/op_node.h"
#include "autograd/view.h"
#include "ir/capturing.h"
#include "ir/primitive.h"

namespace fg::autograd {

bool is_tracked(const Tensor& tensor) {
  if (!tensor.defined()) return false;
  if (!modes.capturing || tensor.is_abstract()) return tensor.requires_grad();
  return modes.capturing->stand_in(tensor).requires_grad();
}

// A call of inference tensors alone is not recorded, as in PyTorch, even where one requires grad.
static bool has_normal_tensor(ir::Operands inputs) {
  for (const ir::Operand& operand : inputs) {
    for (const Tensor& tensor : operand.all()) {
      if (tensor.defined() && !tensor.is_inference()) return true;
    }
  }
  return false;
}

bool should_record(ir::Operands inputs) {
  if (!modes.grad_enabled || modes.inference) return false;
  for (const ir::Operand& operand : inputs) {
    for (const Tensor& tensor : operand.all()) {
      if (is_tracked(tensor)) return !tensor.is_inference() || has_normal_tensor(inputs);
    }
  }
  return false;
}

static Ref<OpNode> make_node(const ir::Gradient& gradient, ir::Operands inputs,
                             ir::Arguments arguments, const Tensor* original = nullptr) {
  auto node = Ref<OpNode>::adopt(new OpNode(gradient, std::move(arguments)));
  node->connect(inputs, original);
  return node;
}

void record(const ir::Gradient& gradient, ir::Operands inputs, ir::Arguments arguments,
            std::span<Tensor> outputs) {
  auto differentiable = [](const Tensor& t) { return t.defined() && is_differentiable(t.dtype()); };
  if (std::none_of(outputs.begin(), outputs.end(), differentiable)) return;
  auto node = make_node(gradient, inputs, std::move(arguments));
  OpNode& op = *node;
  bool several = outputs.size() > 1;
  // Indices at the end, as those of max(), have no gradients that hooks could see.
  std::span<Tensor> seen = outputs;
  while (seen.back().defined() && !is_differentiable(seen.back().dtype())) {
    seen = seen.first(seen.size() - 1);
  }
  for (const Tensor& output : seen) {
    if (output.defined())
      op.add_input_metadata(output.sizes(), output.dtype());
    else
      op.add_input_metadata({}, DType::f32);
  }
  for (size_t i = 0; i < outputs.size(); i++) {
    const Tensor& output = outputs[i];
    if (!differentiable(output)) continue;
    AutogradMeta& meta = ensure_meta(output);
    if (several && meta.view) meta.view.origin = ViewOrigin::multi_output;
    Ref<Node> owner = several ? Ref<Node>(node) : Ref<Node>(std::move(node));
    set_gradient_edge(output, {std::move(owner), static_cast<uint32_t>(i)});
  }
  op.save_outputs(outputs);
  node_created([&] { return Ref<Node>::share(&op); });
}

void record_inplace(const ir::Gradient& gradient, ir::Operands inputs, ir::Arguments arguments,
                    const Tensor& original, Write write) {
  const Tensor& self = *inputs[0];
  auto node = make_node(gradient, inputs, std::move(arguments), &original);
  write();
  node->add_input_metadata(self.sizes(), self.dtype());
  rebase_history(self, {node, 0});
  node->save_outputs({&self, 1}, self.is_view());
  node_created([&] { return attached_node(self); });
}

bool saves_input(const ir::Gradient& gradient, ir::Operands inputs, int input) {
  uint32_t requiring = 0;
  for (size_t i = 0; i < inputs.size(); i++) {
    for (const Tensor& tensor : inputs[i].all()) {
      if (tensor.defined() && tensor.requires_grad()) requiring |= 1u << i;
    }
  }
  for (const ir::Rule& rule : gradient.rules) {
    if ((rule.wrt & requiring) && (rule.saves.in >> input & 1)) return true;
  }
  return false;
}

}  // namespace fg::autograd

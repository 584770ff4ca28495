#include "autograd/hooks.h"

#include "base/fail.h"

namespace fg::autograd {

// A replacement must look like what it replaces.
static void check_replacement(const Tensor& before, const Tensor& after, const char* kind,
                              const std::string& node) {
  if (!after.defined()) return;
  if (!before.defined()) {
    fail("a {} of {} returned a gradient where there was none; return an undefined tensor there",
         kind, node);
  }
  if (!(before.sizes() == after.sizes())) {
    fail("a {} of {} changed the size of the gradient: got {} but expected {}", kind, node,
         text(after.sizes()), text(before.sizes()));
  }
  if (before.dtype() != after.dtype()) {
    fail("a {} of {} changed the dtype of the gradient: got {} but expected {}", kind, node,
         name(after.dtype()), name(before.dtype()));
  }
}

static void replace_all(Tensors& grads, Tensors&& result, const char* kind,
                        const std::string& node) {
  if (result.empty()) return;
  if (result.size() != grads.size()) {
    fail("a {} of {} returned {} gradients but got {}; return as many, or none to keep them", kind,
         node, result.size(), grads.size());
  }
  for (size_t i = 0; i < grads.size(); i++) check_replacement(grads[i], result[i], kind, node);
  grads = std::move(result);
}

void call_tensor_hooks(Node& node, Tensors& grads) {
  if (!node.hooks()) return;
  // Copies: a hook may remove itself, or the node's last reference.
  auto entries = node.hooks()->tensor.entries;
  for (auto& entry : entries) {
    Tensor& grad = grads[entry.index];
    if (!grad.defined() && !node.is_one_function()) continue;
    Tensor replaced = entry.call(grad);
    if (!replaced.defined()) continue;
    check_replacement(grad, replaced, "tensor hook", node.name());
    grad = replaced;
  }
  auto retained = node.hooks()->retain_grad;
  for (auto& [output, retain] : retained) {
    if (grads[output].defined()) retain(grads[output]);
  }
}

void call_pre_hooks(Node& node, Tensors& grads) {
  if (!node.hooks()) return;
  auto entries = node.hooks()->pre.entries;
  for (auto& entry : entries) {
    replace_all(grads, entry.call(grads), "node pre-hook", node.name());
  }
}

void call_post_hooks(Node& node, Tensors& grad_inputs, const Tensors& grad_outputs) {
  grad_inputs.resize(node.next_edges().size());
  auto entries = node.hooks()->post.entries;
  for (auto& entry : entries) {
    replace_all(grad_inputs, entry.call(grad_inputs, grad_outputs), "node hook", node.name());
  }
}

}  // namespace fg::autograd

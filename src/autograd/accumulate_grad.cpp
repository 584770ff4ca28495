#include "autograd/accumulate_grad.h"

#include "autograd/active_hooks.h"
#include "autograd/graph_task.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"

namespace fg::autograd {

AccumulateGrad::AccumulateGrad() {
  set_sequence_nr(UINT64_MAX);  // runs as soon as it can
  add_input_metadata({}, DType::f32);
}

Ref<Node> AccumulateGrad::of(const Tensor& leaf, AutogradMeta& meta) {
  Ref<Node> result;
  {
    Locked locked(meta.lock);
    AccumulateGrad*& node = meta.accumulator;
    if (node && node->variable_.defined()) return Ref<Node>::share(node);
    if (!node) node = new AccumulateGrad;
    node->variable_ = leaf;
    node->metadata_[0].sizes = leaf.sizes();
    node->metadata_[0].dtype = leaf.dtype();
    node->hooks_ = meta.leaf_hooks;
    result = Ref<Node>::adopt(node);
  }
  node_created([&] { return result; });  // the leaf may keep its memory, but it is a new node
  return result;
}

// Another thread may have found the node in the meantime: then it lives on.
void AccumulateGrad::dispose() {
  Tensor variable;  // released last: it may be what keeps the leaf, and with it this node
  Locked locked(meta_of(variable_)->lock);
  if (!release()) return;
  weak_ = nullptr;
  hooks_ = nullptr;
  std::swap(variable, variable_);
}

NodeHooks& AccumulateGrad::ensure_hooks() {
  AutogradMeta& meta = ensure_meta(variable_);
  if (!meta.leaf_hooks) meta.leaf_hooks = Ref<NodeHooks>::adopt(new NodeHooks);
  share_hooks(meta.leaf_hooks);
  return *meta.leaf_hooks;
}

// The leaf's, unless that has gaps or reaches an element twice: then a gradient is contiguous.
static Dims layout_of_grad(const Tensor& variable) {
  if (variable.is_contiguous()) return variable.strides();
  Dims dense = ops::preserved_strides(variable);
  return dense == variable.strides() ? dense : contiguous_strides(variable.sizes());
}

// Whether a gradient may be kept without a copy: no other reference sees it, its layout is right.
static bool can_steal(const Tensor& grad, const Dims& layout, uint32_t holders) {
  const TensorImpl& impl = *grad.impl();
  return impl.use_count() == holders && impl.storage && impl.storage->use_count() == 1 &&
         grad.strides() == layout && !grad.requires_grad();
}

void accumulate(const Tensor& variable, Tensor grad, bool create_graph, uint32_t holders) {
  AutogradMeta& meta = ensure_meta(variable);
  if (!meta.grad.defined()) {
    Dims layout = layout_of_grad(variable);
    if (create_graph)
      meta.grad = grad.clone();
    else if (can_steal(grad, layout, holders))
      meta.grad = alias(grad);
    else {
      NoGradGuard no_grad;
      meta.grad = empty_strided(variable.sizes(), layout, grad.dtype());
      meta.grad.copy_(grad);
    }
    return;
  }
  if (create_graph)
    meta.grad = add(meta.grad, grad);
  else {
    NoGradGuard no_grad;
    meta.grad.add_(grad);
  }
}

Tensors AccumulateGrad::apply(Tensors&& grads) {
  if (grads[0].defined()) {
    Locked locked(lock_);
    // The engine holds it for post-hooks, which see what was accumulated.
    uint32_t holders = hooks() && !hooks()->post.entries.empty() ? 2 : 1;
    accumulate(variable_, std::move(grads[0]), modes.grad_enabled, holders);
  }
  if (hooks()) {
    auto entries = hooks()->post_accumulate.entries;
    for (auto& entry : entries) entry.call(variable_);
  }
  return {};
}

}  // namespace fg::autograd

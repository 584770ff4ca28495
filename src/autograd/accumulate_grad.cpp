#include "autograd/accumulate_grad.h"

#include "autograd/graph_task.h"
#include "ops/arithmetic.h"

namespace fg::autograd {

AccumulateGrad::AccumulateGrad(Tensor variable) : variable_(std::move(variable)) {
  set_sequence_nr(UINT64_MAX);  // runs as soon as it can
  add_input_metadata(variable_.sizes(), variable_.dtype());
}

// A gradient may be kept without a copy when nobody else can see it and its layout is the leaf's.
static bool can_steal(const Tensor& grad, const Tensor& variable) {
  const TensorImpl& impl = *grad.impl();
  return impl.use_count() == 1 && impl.storage && impl.storage->use_count() == 1 &&
         grad.strides() == variable.strides() && !grad.requires_grad();
}

void accumulate(const Tensor& variable, Tensor grad, bool create_graph) {
  AutogradMeta& meta = ensure_meta(variable);
  if (!meta.grad.defined()) {
    if (create_graph)
      meta.grad = grad.clone();
    else if (can_steal(grad, variable))
      meta.grad = alias(grad);
    else {
      NoGradGuard no_grad;
      meta.grad = empty_strided_tensor(variable.sizes(), variable.strides(), grad.dtype());
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
  if (!grads[0].defined()) return {};
  {
    std::lock_guard lock(mutex_);
    accumulate(variable_, std::move(grads[0]), modes.grad_enabled);
  }
  if (hooks()) {
    auto entries = hooks()->post_accumulate.entries;
    for (auto& entry : entries) (*entry.call)(variable_);
  }
  return {};
}

}  // namespace fg::autograd

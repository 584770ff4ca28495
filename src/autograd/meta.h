// AutogradMeta: the data of autograd for one tensor, allocated only for tensors that need it.
#pragma once

#include <memory>

#include "autograd/node.h"
#include "ir/record.h"

namespace fg::autograd {

// A differentiable view: in-place changes of it reach the base, and the other way round.
struct ViewInfo {
  Tensor base;  // undefined: the tensor is no view
  ViewOrigin origin = ViewOrigin::plain;
  uint32_t version = 0;  // of the memory when grad_fn was last made
  explicit operator bool() const { return base.defined(); }
};

class AccumulateGrad;

struct AutogradMeta : AutogradData {
  bool requires_grad = false;  // leaves only
  bool retains_grad = false;
  uint32_t output_nr = 0;
  Tensor grad;
  Ref<Node> grad_fn;
  AccumulateGrad* accumulator = nullptr;  // of a leaf; for its owner see accumulate_grad.h
  Ref<Node> borrowed_accumulator;         // of a copy that stands for a leaf
  Ref<NodeHooks> leaf_hooks;
  ViewInfo view;
  std::shared_ptr<AutogradMeta*> self;  // lets a node store a gradient here, if this still lives
  SpinLock lock;

  ~AutogradMeta() override;

  static void* operator new(size_t bytes);
  static void operator delete(void* pointer);
};

inline AutogradMeta* meta_of(const Tensor& tensor) {
  return static_cast<AutogradMeta*>(tensor.impl()->autograd);
}
AutogradMeta& ensure_meta(const Tensor& tensor);

// Refuses to change more than the elements of a tensor that a captured function got from outside.
void refuse_outside(const Tensor& tensor, std::string_view function);
// Whether a gradient leads to a tensor, which may be undefined. Captures ask the stand-in of a
// tensor from outside, which the function may have written.
bool is_tracked(const Tensor& tensor);

// The edge along which the gradient of a tensor flows: to its node, its accumulator, or nowhere.
Edge gradient_edge(const Tensor& tensor);
void set_gradient_edge(const Tensor& tensor, Edge edge);
// Replaces the history of a tensor that was changed in place by the new node, through the base when
// the tensor is a view.
void rebase_history(const Tensor& tensor, Edge edge);
Ref<Node> grad_accumulator(const Tensor& leaf);
// The hooks of a tensor, kept by the node that made it or by the leaf; null: it has none.
NodeHooks* hooks_of(const Tensor& tensor);
NodeHooks& ensure_hooks_of(const Tensor& tensor);
// ensure_hooks_of for a new hook; refuses where that could never run.
NodeHooks& hooks_for_gradient(const Tensor& tensor);
NodeHooks& hooks_for_accumulation(const Tensor& tensor);
// The node that made a tensor, kept by it; for a view whose base was written, made anew.
const Ref<Node>& grad_fn_of(const Tensor& tensor);

}  // namespace fg::autograd

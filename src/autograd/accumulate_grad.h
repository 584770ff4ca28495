// The node at the end of every path: adds a gradient into a leaf's `.grad`. It lives as long as
// some graph refers to it and keeps the leaf alive meanwhile; after that the leaf keeps its memory,
// so that the next graph finds it ready.
#pragma once

#include "autograd/meta.h"

namespace fg::autograd {

class AccumulateGrad : public Node {
 public:
  AccumulateGrad();
  // The accumulator of a leaf: the one in use, or the one that the leaf keeps, or a new one.
  static Ref<Node> of(const Tensor& leaf, AutogradMeta& meta);

  std::string name() const override { return "AccumulateGrad"; }
  Tensors apply(Tensors&& grads) override;
  const Tensor& variable() const { return variable_; }
  void expect_dtype(DType dtype) { metadata_[0].dtype = dtype; }
  void dispose() override;
  NodeHooks& ensure_hooks() override;  // kept by the leaf

 private:
  Tensor variable_;
};

// Adds `grad` into `variable.grad`: the first is kept without a copy when no other reference sees
// it, later ones are added in place, or out of place while the backward itself is recorded.
void accumulate(const Tensor& variable, Tensor grad, bool create_graph, uint32_t holders = 1);

}  // namespace fg::autograd

// The node at the end of every path: adds a gradient into a leaf's `.grad`.
#pragma once

#include "autograd/meta.h"

namespace fg::autograd {

class AccumulateGrad : public Node {
 public:
  explicit AccumulateGrad(Tensor variable);

  std::string name() const override { return "AccumulateGrad"; }
  Tensors apply(Tensors&& grads) override;
  const Tensor& variable() const { return variable_; }
  const std::shared_ptr<NodeHooks>& ensure_hooks() override;  // kept by the leaf

 private:
  Tensor variable_;
};

// Adds `grad` into `variable.grad`: steals it when nobody else holds it, adds in place later, and
// out of place while a graph of the backward is being made.
void accumulate(const Tensor& variable, Tensor grad, bool create_graph);

}  // namespace fg::autograd

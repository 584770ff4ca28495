// Views and in-place changes, with PyTorch's rules.
#pragma once

#include "autograd/meta.h"

namespace fg::autograd {

// The node of a base that was written through a view: the gradient of the written part goes through
// the op that wrote it, the rest passes by.
class CopySlices : public Node {
 public:
  CopySlices(const Tensor& base, const Tensor& view, Ref<Node> writer);

  std::string name() const override { return "CopySlices"; }
  Tensors apply(Tensors&& grads) override;
  void release_variables() override;
  const Ref<Node>& writer() const { return writer_; }

 private:
  Dims base_sizes_, base_strides_, view_sizes_, view_strides_;
  Dim offset_;  // of the view, relative to the base
  Ref<Node> writer_;
};

// The node that a write into `self` made part of the graph: its own, or that of its base.
const Ref<Node>& attached_node(const Tensor& self);

// Gives a tensor the sizes, strides and history of a view of itself: t_(), squeeze_() and the like.
void become_view(const Tensor& self, const Tensor& view, const char* name);

}  // namespace fg::autograd

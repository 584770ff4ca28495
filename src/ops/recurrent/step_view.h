// The rows of each step of a layer as tensors, by ordinary operations. Where batch_sizes has the
// rows of each step, its elements need not be known: every step has a row for each sequence, and
// rows of sequences that ended are any.
#pragma once

#include "tensor/tensor.h"

namespace fg::ops {

class StepView {
 public:
  // `all`: (steps, batch, features), or (rows, features) with batch_sizes.
  StepView(const Tensor& all, const Tensor& batch_sizes, Dim batch);

  size_t size() const { return count_; }
  // The rows of a step, of a matrix of the same form.
  Tensor rows(const Tensor& all, size_t step) const;
  // A state after a step: rows of other sequences stay as they were.
  Tensor updated(const Tensor& state, const Tensor& rows, size_t step) const;
  // Zeros in the rows of other sequences.
  Tensor cleared(const Tensor& rows, size_t step) const;
  // The rows of all steps in the form of the layer.
  Tensor joined(const Tensors& of_steps) const;

 private:
  size_t count_ = 0;
  Tensors indices_, alive_;  // per step: rows in memory; whether a sequence has the step
  Tensor places_;            // of each row in memory among (steps * batch)
};

}  // namespace fg::ops

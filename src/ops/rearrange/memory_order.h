// MemoryOrder: the dimensions of a tensor from the outermost in memory to the innermost. A function
// that works along one dimension keeps the layout of its input without a copy when it computes on
// the dimensions in this order and permutes its result back.
#pragma once

#include "tensor/tensor.h"

namespace fg::ops {

class MemoryOrder {
 public:
  explicit MemoryOrder(const Tensor& self);

  Tensor ordered(const Tensor& self) const;
  int64_t axis(int64_t of_self) const;
  Tensor given_back(const Tensor& ordered) const;

 private:
  Dims order_;  // none: it is that of the dimensions
};

}  // namespace fg::ops

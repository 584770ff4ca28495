// The copy that bodies of rearranging functions make: a view of it is the result.
#pragma once

#include "tensor/tensor.h"

namespace fg::ops {

// A contiguous copy with memory of its own, whatever the layout of `self`.
Tensor contiguous_copy(const Tensor& self);

}  // namespace fg::ops

// Indexing as in Python's x[...]: integers, slices, None, "...", bools, masks and index tensors,
// mixed freely. Tensor::index, Tensor::index_put_ and operator[] are defined with it.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace fg {

// self[indices], where an index may be a slice as in x[Slice(1, 5, 2)]; absent ends: std::nullopt.
Tensor get_item(const Tensor& self, const std::vector<TensorIndex>& indices);
// self[indices] = value: the value is broadcast; leading dimensions of size one are ignored.
void set_item(const Tensor& self, const std::vector<TensorIndex>& indices, const Tensor& value);

}  // namespace fg

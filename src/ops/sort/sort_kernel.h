// Sorting and choosing along one dimension. Elements are compared through keys: unsigned integers
// in the same order, where NaN is the greatest number and -0 equals 0. Sorting is always stable.
#pragma once

#include "tensor/tensor.h"

namespace fg::kernels {

// values and indices of the sorted lines of `self` along `axis`; both contiguous.
void sort_lines(const Tensor& self, int64_t axis, bool descending, const Tensor& values,
                const Tensor& indices);
// The first k of each sorted line, k being the size of `values` along the axis.
void top_of_lines(const Tensor& self, int64_t axis, bool largest, const Tensor& values,
                  const Tensor& indices);

}  // namespace fg::kernels

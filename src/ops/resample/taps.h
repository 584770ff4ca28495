// Weighted sums of elements at given places: the form sum of weight * grad * x[index] over all
// taps, and its three halves. Each is linear in two operands, and the gradients of each are the
// other two, so any derivative closes over them.
#pragma once

#include "tensor/tensor.h"

namespace fg::ops {

// x [n, c, sizes...], weight and index [taps, n, places...] -> [n, c, places...]. Indices count in
// the flat sizes of a channel; negative ones stand for zeros.
Tensor sum_taps(const Tensor& x, const Tensor& weight, const Tensor& index);

}  // namespace fg::ops

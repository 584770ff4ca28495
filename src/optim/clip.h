// Clipping of gradients, by the norm of all of them or element by element.
#pragma once

#include "tensor/tensor.h"

namespace fg::optim {

// The norm of all tensors together, and the factor that brings it down to at most `max_norm`.
Tensor norm_of(const Tensors& tensors, double norm_type = 2, bool error_if_nonfinite = false);
Tensor scale_for(const Tensor& norm, const Scalar& max_norm);

// clip_grad_norm_ and clip_grad_value_ for gradients that are not written to; undefined ones are
// left out. Returns the norm before.
Tensor clip_norm(Tensors& gradients, const Scalar& max_norm, bool error_if_nonfinite = false);
void clip_value(Tensors& gradients, const Scalar& limit);

}  // namespace fg::optim

// Normalising over dimensions, for the bodies of layer_norm, group_norm and batch_norm.
#pragma once

#include "ir/gradient.h"

namespace fg::ops {

struct Normalized {
  Tensor y;           // xhat * weight + bias
  Tensor mean, rstd;  // keepdim, in the accumulation dtype
};
// `weight` and `bias` broadcast with x. Over the last dimensions this is one pass.
Normalized normalize(const Tensor& x, const Dims& dim, const Tensor& weight, const Tensor& bias,
                     double eps);
// y from given statistics.
Tensor apply_norm(const Tensor& x, const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                  const Tensor& bias);

// The gradients of a normalisation (y, mean, rstd) of input 0: those of input, grad * xhat, and
// grad. The gradients of weight and bias are sums of the last two. Mean and rstd have no gradient
// of their own.
Tensors norm_gradients(const ir::Vjp& v, const Tensor& grad, const Tensor& x, const Tensor& weight,
                       const Dims& dim, double eps);
void refuse_statistics_gradient(const ir::Vjp& v);

}  // namespace fg::ops

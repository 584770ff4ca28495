#include "nn/containers.h"

#include "base/fail.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/unary.h"
#include "ops/norm/softmax.h"
#include "ops/pooling/pooling.h"
#include "ops/random/dropout.h"
#include "ops/view/views.h"

namespace fg::nn {

void SequentialImpl::fail_empty() {
  fail("Sequential: cannot call forward() of an empty Sequential; give it a module first");
}

void ModuleListImpl::fail_kind(size_t place) {
  fail(ErrorKind::type, "ModuleList: the module at place {} is of another kind", place);
}

DropoutImpl::DropoutImpl(double p) : p(p) {
  if (p >= 0 && p <= 1) return;
  fail(ErrorKind::value, "dropout probability has to be between 0 and 1, but got {}", p);
}

Tensor DropoutImpl::forward(const Tensor& input) const { return dropout(input, p, is_training()); }
Tensor ReLUImpl::forward(const Tensor& input) const { return relu(input); }
Tensor GELUImpl::forward(const Tensor& input) const { return gelu(input, approximate); }
Tensor SiLUImpl::forward(const Tensor& input) const { return silu(input); }
Tensor TanhImpl::forward(const Tensor& input) const { return tanh(input); }
Tensor SigmoidImpl::forward(const Tensor& input) const { return sigmoid(input); }
Tensor SoftmaxImpl::forward(const Tensor& input) const { return softmax(input, dim); }
Tensor FlattenImpl::forward(const Tensor& input) const { return input.flatten(start_dim, end_dim); }
Tensor MaxPool2dImpl::forward(const Tensor& input) const {
  return max_pool2d(input, Dims{kernel_size}, Dims{stride}, Dims{padding});
}

}  // namespace fg::nn

// Helpers of the tests of functions: numbers in and out of tensors, messages of refused calls.
#pragma once

#include <gtest/gtest.h>

#include "autograd/node.h"
#include "ops/create/create.h"
#include "ops/reduce/reduce.h"
#include "ops/view/views.h"
#include "tests/error_of.h"

namespace fg {

using Numbers = std::vector<double>;

inline Numbers values(const Tensor& t) { return t.to_vector<double>(); }
inline Tensor doubles(const Numbers& numbers) { return tensor(numbers, kFloat64); }
inline Tensor leaf(const Numbers& numbers) { return doubles(numbers).requires_grad_(); }
// The gradient of the sum of f's results.
template <class F>
Numbers gradient(const F& f, const Numbers& at) {
  Tensor x = leaf(at);
  sum(f(x)).backward();
  return values(x.grad());
}
// 0, 1, 2 and so on.
inline Tensor counted(const Dims& sizes, DType dtype = kFloat64) {
  return reshape(arange(product(sizes).value(), dtype), sizes);
}
inline std::string node_of(const Tensor& t) { return std::string(t.grad_fn()->name()); }

}  // namespace fg

// Helpers of the autograd tests: readable values and error messages.
#pragma once

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/reduce/reduce.h"
#include "ops/view/views.h"
#include "tests/error_of.h"

namespace fg {

using Numbers = std::vector<double>;

inline Numbers numbers(const Tensor& tensor) {
  return tensor.defined() ? tensor.to_vector<double>() : Numbers{};
}
inline Tensor leaf(const TensorData& data) { return tensor(data, kFloat64).requires_grad_(); }

}  // namespace fg

// Functions of a given number of operations in the shapes of graphs.h, to be captured.
#pragma once

#include <random>
#include <string>

#include "compile/graphs.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/unary.h"

namespace fg::bench {

inline Tensor step(size_t i, const Tensor& last, const Tensor& other) {
  if (i % 5 == 2) return i % 4 == 1 ? neg(last) : i % 4 == 3 ? tanh(last) : sin(last);
  return i % 2 ? last * other : last + other;
}

// `shape` is what each operation reads beside the one before it: the one before, the input, any.
inline capture::Body function_of_shape(const std::string& shape, size_t operations) {
  return [shape, operations](const Tensors& inputs) {
    std::mt19937 random(7);
    Tensors made{inputs[0]};
    for (size_t i = 0; i < operations; i++) {
      size_t other = shape == "wide" ? 0 : shape == "chain" ? i : random() % (i + 1);
      made.push_back(step(i, made.back(), made[other]));
    }
    return Tensors{made.back()};
  };
}

}  // namespace fg::bench

// Attention without the matrix of scores: softmax(scale * q @ k^T + mask) @ v and its gradients,
// a tile of scores at a time. The softmax keeps one number per row, the logarithm of its sum.
// Promises: the bits follow from the values, the sizes, the dtype and the level; never from strides
// or the number of threads. Memory beyond the results is linear in the lengths.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace fg::kernels {

// A matrix for each head of each batch; its columns are neighbours.
struct Heads {
  void* data = nullptr;
  int64_t batch = 0, head = 0, row = 0;  // strides in elements
};

// Causal: query i sees the keys up to i; scores of later keys are not even computed.
struct AttentionSizes {
  DType dtype;  // f32 or f64, of all operands
  int64_t batch, heads, queries, keys, width, value_width;
  double scale;
  bool causal;
};

// out is queries x value_width and `sums`, a contiguous number per query, is the logarithm of the
// sum of exp(score): -inf where a query sees nothing, whose row of out is zero. A mask, which may
// be absent, is queries x keys and is added to the scores.
struct AttentionForward {
  AttentionSizes sizes;
  Heads q, k, v, mask, out;
  void* sums;
};
void attend(const AttentionForward& task);

// From the gradient of out to those of q, k and v.
struct AttentionBackward {
  AttentionSizes sizes;
  Heads grad, q, k, v, mask, out;
  const void* sums;
  Heads dq, dk, dv;
};
void attend_backward(const AttentionBackward& task);

}  // namespace fg::kernels

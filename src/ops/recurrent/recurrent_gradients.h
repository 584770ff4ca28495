// Gradients of recurrent layers by ordinary operations, step by step: for what their kernels do not
// serve, which is the gradient of a gradient.
#pragma once

#include "ops/recurrent/recurrent_kernel.h"
#include "tensor/tensor.h"

namespace fg::ops {

// A layer after its forward: the values that its backward reads.
struct LayerState {
  kernels::CellKind kind;
  Tensor saved, weight, hx, batch_sizes;
  bool reverse;
};

// Gradients of results; an undefined one is zero. `saved` is one of them, since the backward is a
// function of it.
struct ResultGrads {
  Tensor output, hn, cn, saved;
};
// Results of the backward; `product` is that of a gru.
struct LayerGrads {
  Tensor gates, product, hx, cx;
};
LayerGrads layer_gradients(const LayerState& layer, const ResultGrads& grads);

// The gradients of what the backward reads, from those of what it returns.
struct LayerSecond {
  ResultGrads grads;  // `saved` is that of the values saved
  Tensor weight;
};
LayerSecond layer_second(const LayerState& layer, const ResultGrads& grads, const LayerGrads& of);

}  // namespace fg::ops

// A recurrent layer from its input to its output, in one direction.
#pragma once

#include "ops/recurrent/recurrent_kernel.h"
#include "tensor/tensor.h"

namespace fg::ops {

// Weights of the input, the state, their biases and the projection; the last three may be absent.
struct CellWeights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};
struct State {
  Tensor h, c;  // c of an lstm only
};
struct Direction {
  kernels::CellKind kind;
  CellWeights weights;
  Tensor batch_sizes;
  bool reverse;
};
struct DirectionResult {
  Tensor output;
  State state;
};
// Refuses weights and states of other dtypes than the input's.
void check_dtypes(const Tensor& input, const Tensors& others);

// Operands of one dtype: float32 or float64.
DirectionResult run_direction(const Direction& direction, const Tensor& input, const State& state);

}  // namespace fg::ops

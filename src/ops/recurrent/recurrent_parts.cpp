#include "ops/recurrent/recurrent_parts.h"

#include "base/fail.h"
#include "ir/record.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/recurrent/recurrent_layer.h"
#include "ops/recurrent/step_view.h"
#include "ops/view/views.h"

namespace fg::ops {

using kernels::CellKind;

namespace {

Tensor plus(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : a + b;
}

// The kernel keeps what a backward reads where a backward may come.
bool keeps(const Tensor& gates, const State& state, const Tensor& weight, const Tensor& bias) {
  const ir::Operand operands[] = {gates, state.h, state.c, weight, bias};
  return autograd::should_record(operands);
}

DirectionResult run_layer(const Direction& d, const Tensor& gates, const State& state) {
  const Tensor &weight = d.weights.w_hh, &bias = d.weights.b_hh, &sizes = d.batch_sizes;
  const bool keep = keeps(gates, state, weight, bias), relu = d.kind == CellKind::relu;
  if (d.kind == CellKind::lstm && keep) {
    auto [output, h, c, saved] = lstm_layer(gates, state.h, state.c, weight, sizes, d.reverse);
    return {output, {h, c}};
  }
  if (d.kind == CellKind::lstm) {
    auto [output, h, c] = lstm_layer_values(gates, state.h, state.c, weight, sizes, d.reverse);
    return {output, {h, c}};
  }
  if (!keep) {
    auto [output, h] = d.kind == CellKind::gru
                           ? gru_layer_values(gates, state.h, weight, bias, sizes, d.reverse)
                           : rnn_layer_values(gates, state.h, weight, sizes, d.reverse, relu);
    return {output, {h, {}}};
  }
  auto [output, h, saved] = d.kind == CellKind::gru
                                ? gru_layer(gates, state.h, weight, bias, sizes, d.reverse)
                                : rnn_layer(gates, state.h, weight, sizes, d.reverse, relu);
  return {output, {h, {}}};
}

// A projected lstm: the state is another one than the output of the cell, so step by step.
DirectionResult run_projected(const Direction& d, const Tensor& gates, State state) {
  StepView steps(gates, d.batch_sizes, state.h.sizes()[0]);
  Tensors outputs(steps.size());
  Direction one{d.kind, d.weights, {}, false};
  for (size_t s = 0; s < steps.size(); s++) {
    size_t at = d.reverse ? steps.size() - 1 - s : s;
    auto [_, next] = run_layer(one, unsqueeze(steps.rows(gates, at), 0), state);
    outputs[at] = mm(next.h, t(d.weights.w_hr));
    state = {steps.updated(state.h, outputs[at], at), steps.updated(state.c, next.c, at)};
  }
  return {steps.joined(outputs), state};
}

}  // namespace

void check_dtypes(const Tensor& input, const Tensors& others) {
  for (const Tensor& other : others) {
    if (other.defined() && other.dtype() != input.dtype()) {
      fail(
          "Input and parameter tensors are not the same dtype, found input tensor with {} and "
          "parameter tensor with {}",
          name(input.dtype()), name(other.dtype()));
    }
  }
}

DirectionResult run_direction(const Direction& direction, const Tensor& input, const State& state) {
  const CellWeights& w = direction.weights;
  // Both biases are added once, but for a gru, whose second one meets the reset gate.
  Tensor bias = direction.kind == CellKind::gru ? w.b_ih : plus(w.b_ih, w.b_hh);
  Tensor gates = linear(input, w.w_ih, bias);
  return w.w_hr.defined() ? run_projected(direction, gates, state)
                          : run_layer(direction, gates, state);
}

}  // namespace fg::ops

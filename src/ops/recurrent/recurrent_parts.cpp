#include "ops/recurrent/recurrent_parts.h"

#include <algorithm>

#include "base/fail.h"
#include "ir/record.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/rearrange/join.h"
#include "ops/recurrent/recurrent_layer.h"
#include "ops/view/views.h"

namespace fg::ops {

using kernels::CellKind;

namespace {

Tensor plus(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : a + b;
}

void check_input(const CellWeights& w, const Tensor& input, const State& state) {
  if (input.dtype() != w.w_ih.dtype() || state.h.dtype() != w.w_ih.dtype()) {
    fail(
        "Input and parameter tensors are not the same dtype, found input tensor with {} and "
        "parameter tensor with {}",
        name(input.dtype() != w.w_ih.dtype() ? input.dtype() : state.h.dtype()),
        name(w.w_ih.dtype()));
  }
}

// The kernel keeps what a backward reads where a backward may come.
bool keeps(const Tensor& gates, const State& state, const Tensor& weight, const Tensor& bias) {
  const ir::Operand operands[] = {gates, state.h, state.c, weight, bias};
  return autograd::should_record(operands);
}

DirectionResult run_layer(const Direction& d, const Tensor& gates, const State& state) {
  const Tensor& weight = d.weights.w_hh;
  const bool keep = keeps(gates, state, weight, d.weights.b_hh);
  if (d.kind == CellKind::lstm) {
    auto [output, h, c, saved] =
        lstm_layer(gates, state.h, state.c, weight, d.batch_sizes, d.reverse, keep);
    return {output, {h, c}};
  }
  if (d.kind == CellKind::gru) {
    auto [output, h, saved] =
        gru_layer(gates, state.h, weight, d.weights.b_hh, d.batch_sizes, d.reverse, keep);
    return {output, {h, {}}};
  }
  auto [output, h, saved] =
      rnn_layer(gates, state.h, weight, d.batch_sizes, d.reverse, d.kind == CellKind::relu, keep);
  return {output, {h, {}}};
}

// Rows of a state that a step computes, and the state with new ones in their place.
Tensor head(const Tensor& state, Dim rows) {
  return rows == state.sizes()[0] ? state : narrow(state, 0, 0, rows);
}
Tensor with_head(const Tensor& state, const Tensor& rows) {
  Dim count = rows.sizes()[0], all = state.sizes()[0];
  return count == all ? rows : cat({rows, narrow(state, 0, count, all - count)}, 0);
}

// A projected lstm: the state is another one than the output of the cell, so step by step.
DirectionResult run_projected(const Direction& d, const Tensor& gates, State state) {
  std::vector<Dim> counts;
  if (d.batch_sizes.defined()) {
    for (int64_t rows : d.batch_sizes.to_vector<int64_t>()) counts.emplace_back(rows);
  } else {
    counts.assign(static_cast<size_t>(gates.sizes()[0].value()), state.h.sizes()[0]);
  }
  Tensor rows = gates.dim() == 3 ? flatten(gates, 0, 1) : gates;
  std::vector<Dim> firsts;
  Dim total = 0;
  for (const Dim& count : counts) firsts.push_back(total), total += count;
  Tensors outputs(counts.size());
  Direction one{d.kind, d.weights, {}, false};
  for (size_t s = 0; s < counts.size(); s++) {
    size_t t = d.reverse ? counts.size() - 1 - s : s;
    Tensor step = unsqueeze(narrow(rows, 0, firsts[t], counts[t]), 0);
    auto [_, next] = run_layer(one, step, {head(state.h, counts[t]), head(state.c, counts[t])});
    outputs[t] = mm(next.h, fg::t(d.weights.w_hr));
    state = {with_head(state.h, outputs[t]), with_head(state.c, next.c)};
  }
  return {gates.dim() == 3 ? stack(outputs, 0) : cat(outputs, 0), state};
}

}  // namespace

DirectionResult run_direction(const Direction& direction, const Tensor& input, const State& state) {
  const CellWeights& w = direction.weights;
  check_input(w, input, state);
  // Both biases are added once, but for a gru, whose second one meets the reset gate.
  Tensor bias = direction.kind == CellKind::gru ? w.b_ih : plus(w.b_ih, w.b_hh);
  Tensor gates = linear(input, w.w_ih, bias);
  return w.w_hr.defined() ? run_projected(direction, gates, state)
                          : run_layer(direction, gates, state);
}

}  // namespace fg::ops

// A recurrent layer as one kernel: for every step a product of the state with the weight, then the
// formula of the cell. The products of the input come from the caller, all steps at once.
//   lstm: i, f, o = sigmoid, g = tanh of x + h W^T;  c' = f c + i g;  h' = o tanh(c')
//   gru:  r, z = sigmoid(x + h W^T + b);  n = tanh(x + r (h W^T + b));  h' = n + z (h - n)
//   rnn:  h' = tanh or relu of x + h W^T
// Promises: the bits follow from the values, the sizes, the dtype and the level; never from the
// number of threads. In f32, numbers below the normal ones count as zero, on x86.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace fg::kernels {

enum class CellKind : uint8_t { lstm, gru, tanh, relu };

// Parts of `hidden` elements that the weight makes, and that are kept of a row before its h.
constexpr int64_t gate_count(CellKind kind) {
  return kind == CellKind::lstm ? 4 : kind == CellKind::gru ? 3 : 1;
}
constexpr int64_t kept_count(CellKind kind) {
  return kind == CellKind::lstm ? 5 : kind == CellKind::gru ? 4 : 1;
}

// Rows of one step in memory where those of all steps lie one behind the other. Sequences that
// ended, or did not begin, have no row: sequence i has row `first + i` of the steps with more than
// i rows, which are neighbours.
struct StepRows {
  int64_t first, rows;
};

struct RecurrentSizes {
  CellKind kind;
  DType dtype;                      // f32 or f64, of all operands
  std::span<const StepRows> steps;  // in the order in which they are computed
  int64_t batch, hidden, width;     // width: of the state h; other than `hidden` for one step only
  int64_t total;                    // rows of all steps

  int64_t gates() const { return gate_count(kind) * hidden; }
  // A row of what the backward needs: lstm i, f, g, o, c and h before the step; gru r, z, n, the
  // product for n, h before the step; rnn h, h before the step.
  int64_t saved() const { return kept_count(kind) * hidden + width; }
};

// All matrices are contiguous. x: total x gates; hx: batch x width; cx (lstm): batch x hidden;
// weight: gates x width; bias (gru, or null): gates; out: total x hidden; hn and cn: batch x
// hidden, the state after the last step of each sequence; saved: total x saved(), or null.
struct RecurrentForward {
  RecurrentSizes sizes;
  const void *x, *hx, *cx, *weight, *bias;
  void *out, *hn, *cn, *saved;
};
void run_layer(const RecurrentForward &task);

// From gradients of out, hn and cn (null: zeros) to those of x, hx and cx. `d_product` is the
// gradient of h W^T, which for a gru is another one than that of x; null for the others.
struct RecurrentBackward {
  RecurrentSizes sizes;
  const void *d_out, *d_hn, *d_cn, *saved, *weight;
  void *d_x, *d_product, *d_hx, *d_cx;
};
void run_layer_backward(const RecurrentBackward &task);

}  // namespace fg::kernels

// Parts of the primitives of recurrent layers: their operands, checks of them, and calls of the
// kernels.
#pragma once

#include "ops/recurrent/recurrent_gradients.h"
#include "ops/recurrent/recurrent_kernel.h"
#include "tensor/tensor.h"

namespace fg::ops {

using kernels::CellKind;

struct LayerParams {
  bool reverse = false, relu = false;
  bool operator==(const LayerParams&) const = default;
};

// The operands that layers have in common; `rows` is a matrix per step, of gates or of what was
// saved.
struct Layer {
  CellKind kind;
  const Tensor &rows, &hx, &weight, &batch_sizes;

  int64_t gates() const { return kernels::gate_count(kind); }
  Dim hidden() const { return weight.sizes()[0] / gates(); }
  Dim width() const { return weight.sizes()[1]; }
  Dim saved() const { return hidden() * kernels::kept_count(kind) + width(); }
  Dims per_step(Dim last) const {
    Dims sizes = rows.sizes();
    sizes[sizes.size() - 1] = last;
    return sizes;
  }
  Dims state() const { return {hx.sizes()[0], hidden()}; }
};

// Refuse other dtypes than float32 and float64, or different ones; and other sizes.
void check_dtypes(const char* who, std::initializer_list<const Tensor*> tensors);
void check_sizes(const char* who, const char* what, const Tensor& tensor, const Dims& sizes);
// Refuses operands that are no layer, whose rows have `last` features.
void check_layer(const char* who, const Layer& layer, Dim last);

struct ForwardOperands {
  Tensor cx, bias, output, hn, cn, saved;
};
void evaluate_forward(const char* who, const Layer& layer, const LayerParams& p,
                      const ForwardOperands& operands);

struct BackwardOperands {
  Tensor d_output, d_hn, d_cn, d_gates, d_product, d_hx, d_cx;
};
void evaluate_backward(const char* who, const Layer& layer, const LayerParams& p,
                       const BackwardOperands& operands);

// ---- gradients

LayerState state_of(const Layer& layer, const LayerParams& p);
// The gradient of the products with the weight, times the states that they were made of.
Tensor weight_gradient(const Tensor& product, const Layer& layer);
Tensor bias_gradient(const Tensor& product);

}  // namespace fg::ops

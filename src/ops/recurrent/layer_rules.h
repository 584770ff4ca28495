// The gradient rules of the primitives of recurrent layers.
#pragma once

#include "ir/gradient.h"
#include "ops/recurrent/layer_kind.h"

namespace fg::ops {

// Inputs gates, hx, cx, weight; gates, hx, weight, bias; gates, hx, weight.
Tensors lstm_rule(const ir::Vjp& v, const LayerParams& p);
Tensors gru_rule(const ir::Vjp& v, const LayerParams& p);
Tensors rnn_rule(const ir::Vjp& v, const LayerParams& p);

// Of the backwards: inputs are the gradients of the results, what was saved, and the weight.
Tensors lstm_second_rule(const ir::Vjp& v, const LayerParams& p);
Tensors gru_second_rule(const ir::Vjp& v, const LayerParams& p);
Tensors rnn_second_rule(const ir::Vjp& v, const LayerParams& p);

}  // namespace fg::ops

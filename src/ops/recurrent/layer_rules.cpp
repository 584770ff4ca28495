#include "ops/recurrent/layer_rules.h"

#include "ops/matmul/matmul.h"
#include "ops/recurrent/recurrent_gradients.h"
#include "ops/recurrent/recurrent_layer.h"
#include "ops/reduce/reduce.h"
#include "ops/view/views.h"

namespace fg::ops {

using ir::Vjp;

namespace {

Tensor as_rows(const Tensor& steps) { return steps.dim() == 3 ? flatten(steps, 0, 1) : steps; }

// The gradient of a weight: what flowed to the products, times the states that they were made of.
Tensor weight_gradient(const Tensor& product, const Layer& layer) {
  Dim before = layer.hidden() * kernels::kept_count(layer.kind);
  return mm(t(as_rows(product)), narrow(as_rows(layer.rows), 1, before, layer.width()));
}

LayerState state_of(const Layer& layer, const LayerParams& p) {
  return {layer.kind, layer.rows, layer.weight, layer.hx, layer.batch_sizes, p.reverse};
}

}  // namespace

// lstm: gates, hx, cx, weight, batch_sizes -> output, hn, cn, saved.
Tensors lstm_rule(const Vjp& v, const LayerParams& p) {
  Tensor saved = v.out(3), weight = v.in(3), hx = v.in(1), batch_sizes = v.in(4);
  Layer layer{CellKind::lstm, saved, hx, weight, batch_sizes};
  LayerGrads grads;
  if (v.grad(3).defined()) {
    grads = layer_gradients(state_of(layer, p), {v.grad(0), v.grad(1), v.grad(2), v.grad(3)});
  } else {
    auto [gates, of_hx, of_cx] = lstm_layer_backward(v.grad(0), v.grad(1), v.grad(2), saved, weight,
                                                     hx, batch_sizes, p.reverse);
    grads = {gates, {}, of_hx, of_cx};
  }
  return {grads.gates, grads.hx, grads.cx,
          v.needs(3) ? weight_gradient(grads.gates, layer) : Tensor()};
}

// gru: gates, hx, weight, bias, batch_sizes -> output, hn, saved.
Tensors gru_rule(const Vjp& v, const LayerParams& p) {
  Tensor saved = v.out(2), weight = v.in(2), hx = v.in(1), batch_sizes = v.in(4);
  Layer layer{CellKind::gru, saved, hx, weight, batch_sizes};
  LayerGrads grads;
  if (v.grad(2).defined()) {
    grads = layer_gradients(state_of(layer, p), {v.grad(0), v.grad(1), {}, v.grad(2)});
  } else {
    auto [gates, product, of_hx] =
        gru_layer_backward(v.grad(0), v.grad(1), saved, weight, hx, batch_sizes, p.reverse);
    grads = {gates, product, of_hx, {}};
  }
  return {grads.gates, grads.hx, v.needs(2) ? weight_gradient(grads.product, layer) : Tensor(),
          v.needs(3) ? sum(as_rows(grads.product), Dims{0}) : Tensor()};
}

// rnn: gates, hx, weight, batch_sizes -> output, hn, saved.
Tensors rnn_rule(const Vjp& v, const LayerParams& p) {
  Tensor saved = v.out(2), weight = v.in(2), hx = v.in(1), batch_sizes = v.in(3);
  Layer layer{plain_kind(p), saved, hx, weight, batch_sizes};
  LayerGrads grads;
  if (v.grad(2).defined()) {
    grads = layer_gradients(state_of(layer, p), {v.grad(0), v.grad(1), {}, v.grad(2)});
  } else {
    auto [gates, of_hx] =
        rnn_layer_backward(v.grad(0), v.grad(1), saved, weight, hx, batch_sizes, p.reverse, p.relu);
    grads = {gates, {}, of_hx, {}};
  }
  return {grads.gates, grads.hx, v.needs(2) ? weight_gradient(grads.gates, layer) : Tensor()};
}

// lstm backward: grad_output, grad_hn, grad_cn, saved, weight, hx, batch_sizes.
Tensors lstm_second_rule(const Vjp& v, const LayerParams& p) {
  auto second =
      layer_second({CellKind::lstm, v.in(3), v.in(4), v.in(5), v.in(6), p.reverse},
                   {v.in(0), v.in(1), v.in(2), {}}, {v.grad(0), {}, v.grad(1), v.grad(2)});
  return {second.grads.output, second.grads.hn, second.grads.cn, second.grads.saved, second.weight};
}
// gru backward: grad_output, grad_hn, saved, weight, hx, batch_sizes.
Tensors gru_second_rule(const Vjp& v, const LayerParams& p) {
  auto second = layer_second({CellKind::gru, v.in(2), v.in(3), v.in(4), v.in(5), p.reverse},
                             {v.in(0), v.in(1), {}, {}}, {v.grad(0), v.grad(1), v.grad(2), {}});
  return {second.grads.output, second.grads.hn, second.grads.saved, second.weight};
}
Tensors rnn_second_rule(const Vjp& v, const LayerParams& p) {
  auto second = layer_second({plain_kind(p), v.in(2), v.in(3), v.in(4), v.in(5), p.reverse},
                             {v.in(0), v.in(1), {}, {}}, {v.grad(0), {}, v.grad(1), {}});
  return {second.grads.output, second.grads.hn, second.grads.saved, second.weight};
}

}  // namespace fg::ops

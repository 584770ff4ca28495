#include "ops/recurrent/layer_entry.h"
#include "ops/recurrent/recurrent_layer.h"

namespace fg {

using namespace ir;
using namespace ops::layer_samples;
using kernels::CellKind;
using ops::checked_call;
using ops::Layer;
using ops::layer_primitive;
using ops::LayerGrads;
using ops::LayerParams;
using ops::ResultGrads;
using saves::in, saves::out;

namespace {

// Inputs: gates, hx, cx, weight, batch_sizes.
Layer layer_of(Operands in) { return {CellKind::lstm, *in[0], *in[1], *in[3], *in[4]}; }

void require(Operands in, const LayerParams&) {
  Layer layer = layer_of(in);
  ops::check_dtypes("lstm_layer", {&layer.rows, &layer.hx, &*in[2], &layer.weight});
  ops::check_layer("lstm_layer", layer, layer.hidden() * 4);
  ops::check_sizes("lstm_layer", "cx", *in[2], layer.state());
}
template <bool keeps>
void infer(Operands in, const LayerParams&, Meta* out) {
  ops::infer_layer(layer_of(in), out, 2, keeps);
}
template <bool keeps>
void evaluate(Operands in, const LayerParams& p, Tensor* out) {
  ops::evaluate_forward("lstm_layer", layer_of(in), p,
                        {*in[2], {}, out[0], out[1], out[2], keeps ? out[3] : Tensor()});
}

// Inputs: gradients of output, hn and cn, saved, weight, hx, batch_sizes.
void require_backward(Operands in, const LayerParams&) {
  ops::require_backward("lstm_layer_backward", ops::backward_layer(CellKind::lstm, in, 3), in, 3);
}
void infer_backward(Operands in, const LayerParams&, Meta* out) {
  Layer layer = ops::backward_layer(CellKind::lstm, in, 3);
  DType dtype = layer.weight.dtype();
  out[0] = {layer.per_step(layer.hidden() * 4), dtype};
  out[1] = {layer.hx.sizes(), dtype};
  out[2] = {layer.state(), dtype};
}
void evaluate_backward(Operands in, const LayerParams& p, Tensor* out) {
  ops::evaluate_backward("lstm_layer_backward", ops::backward_layer(CellKind::lstm, in, 3), p,
                         {*in[0], *in[1], *in[2], out[0], {}, out[1], out[2]});
}

// Gradients of gates, hx, cx and weight.
Tensors gradients(const Layer& layer, const ResultGrads& from, const LayerParams& p,
                  bool of_weight) {
  LayerGrads grads;
  if (from.saved.defined()) {
    grads = ops::layer_gradients(ops::state_of(layer, p), from);
  } else {
    auto [gates, hx, cx] =
        lstm_layer_backward(from.output, from.hn, from.cn, layer.rows, layer.weight, layer.hx,
                            layer.batch_sizes, p.reverse);
    grads = {gates, {}, hx, cx};
  }
  return {grads.gates, grads.hx, grads.cx,
          of_weight ? ops::weight_gradient(grads.gates, layer) : Tensor()};
}

const Registered lstm_p =
    layer_primitive<infer<true>, evaluate<true>, require>("lstm_layer", "tttto", 4)
        .vjp("LstmLayerBackward0",
             wrt_all({0, 1, 2, 3}, in(1) | in(3) | in(4) | out(3),
                     [](const Vjp& v, const LayerParams& p) {
                       Tensor saved = v.out(3), hx = v.in(1), weight = v.in(3), sizes = v.in(4);
                       return gradients({CellKind::lstm, saved, hx, weight, sizes},
                                        {v.grad(0), v.grad(1), v.grad(2), v.grad(3)}, p,
                                        v.needs(3));
                     }));
// Saves nothing; its gradient computes the forward again.
const Registered lstm_values_p =
    layer_primitive<infer<false>, evaluate<false>, require>("lstm_layer_values", "tttto", 3)
        .vjp("LstmLayerValuesBackward0",
             wrt_all({0, 1, 2, 3}, in(0) | in(1) | in(2) | in(3) | in(4),
                     [](const Vjp& v, const LayerParams& p) {
                       Tensor hx = v.in(1), weight = v.in(3), sizes = v.in(4);
                       Tensor saved =
                           std::get<3>(lstm_layer(v.in(0), hx, v.in(2), weight, sizes, p.reverse));
                       return gradients({CellKind::lstm, saved, hx, weight, sizes},
                                        {v.grad(0), v.grad(1), v.grad(2), {}}, p, v.needs(3));
                     }));
const Registered lstm_backward_p =
    layer_primitive<infer_backward, evaluate_backward, require_backward>("lstm_layer_backward",
                                                                         "ooottto", 3)
        .linear_in({0, 1, 2})
        .vjp("LstmLayerBackwardBackward0",
             wrt_all({0, 1, 2, 3, 4}, in(0) | in(1) | in(2) | in(3) | in(4) | in(5) | in(6),
                     [](const Vjp& v, const LayerParams& p) {
                       auto second = ops::layer_second(
                           {CellKind::lstm, v.in(3), v.in(4), v.in(5), v.in(6), p.reverse},
                           {v.in(0), v.in(1), v.in(2), {}}, {v.grad(0), {}, v.grad(1), v.grad(2)});
                       return Tensors{second.grads.output, second.grads.hn, second.grads.cn,
                                      second.grads.saved, second.weight};
                     }));

const auto lstm_entry =
    define(lstm_layer, "An LSTM of one direction on the products of its input.",
           [](const Tensor& gates, const Tensor& hx, const Tensor& cx, const Tensor& weight,
              const Tensor& batch_sizes, bool reverse) {
             auto [output, hn, cn, saved] =
                 checked_call<4, require>(lstm_p, {reverse}, gates, hx, cx, weight, batch_sizes);
             return std::tuple<Tensor, Tensor, Tensor, Tensor>(output, hn, cn, saved);
           })
        .shown(Shown::nowhere)
        .samples([] {
          return Samples{{{steps(8), state(), state(), weight_of(4)}},
                         {{rows(8), state(), state(), weight_of(4), batch_sizes(), Scalar(true)},
                          "packed, in reverse"},
                         {{sample({1, 2, 8}), sample({2, 3}), state(), sample({8, 3}, -1, 1)},
                          "a state of another width"}};
        });
const auto lstm_values_entry =
    define(lstm_layer_values, "The results of lstm_layer without what its backward reads.",
           [](const Tensor& gates, const Tensor& hx, const Tensor& cx, const Tensor& weight,
              const Tensor& batch_sizes, bool reverse) {
             auto [output, hn, cn] = checked_call<3, require>(lstm_values_p, {reverse}, gates, hx,
                                                              cx, weight, batch_sizes);
             return std::tuple<Tensor, Tensor, Tensor>(output, hn, cn);
           })
        .shown(Shown::nowhere)
        .samples([] {
          return Samples{{{steps(8), state(), state(), weight_of(4)}},
                         {{rows(8), state(), state(), weight_of(4), batch_sizes(), Scalar(true)},
                          "packed, in reverse"}};
        });
const auto lstm_backward_entry =
    define(lstm_layer_backward, "The gradients of lstm_layer but that of its weight.",
           [](const Tensor& grad_output, const Tensor& grad_hn, const Tensor& grad_cn,
              const Tensor& saved, const Tensor& weight, const Tensor& hx,
              const Tensor& batch_sizes, bool reverse) {
             auto [gates, of_hx, of_cx] =
                 checked_call<3, require_backward>(lstm_backward_p, {reverse}, grad_output, grad_hn,
                                                   grad_cn, saved, weight, hx, batch_sizes);
             return std::tuple<Tensor, Tensor, Tensor>(gates, of_hx, of_cx);
           })
        .shown(Shown::nowhere)
        .samples([] {
          Value none;
          return Samples{{{steps(2), state(), state(), steps(12), weight_of(4), state()}},
                         {{rows(2), none, state(), rows(12), weight_of(4), state(), batch_sizes(),
                           Scalar(true)},
                          "packed, in reverse"}};
        });

}  // namespace
}  // namespace fg

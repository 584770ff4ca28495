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

CellKind kind_of(const LayerParams& p) { return p.relu ? CellKind::relu : CellKind::tanh; }
// Inputs: gates, hx, weight, batch_sizes.
Layer layer_of(Operands in, const LayerParams& p) {
  return {kind_of(p), *in[0], *in[1], *in[2], *in[3]};
}

void require(Operands in, const LayerParams& p) {
  Layer layer = layer_of(in, p);
  ops::check_dtypes("rnn_layer", {&layer.rows, &layer.hx, &layer.weight});
  ops::check_layer("rnn_layer", layer, layer.hidden());
}
template <bool keeps>
void infer(Operands in, const LayerParams& p, Meta* out) {
  ops::infer_layer(layer_of(in, p), out, 1, keeps);
}
template <bool keeps>
void evaluate(Operands in, const LayerParams& p, Tensor* out) {
  ops::evaluate_forward("rnn_layer", layer_of(in, p), p,
                        {{}, {}, out[0], out[1], {}, keeps ? out[2] : Tensor()});
}

// Inputs: gradients of output and hn, saved, weight, hx, batch_sizes.
void require_backward(Operands in, const LayerParams& p) {
  ops::require_backward("rnn_layer_backward", ops::backward_layer(kind_of(p), in, 2), in, 2);
}
void infer_backward(Operands in, const LayerParams& p, Meta* out) {
  Layer layer = ops::backward_layer(kind_of(p), in, 2);
  DType dtype = layer.weight.dtype();
  out[0] = {layer.per_step(layer.hidden()), dtype};
  out[1] = {layer.hx.sizes(), dtype};
}
void evaluate_backward(Operands in, const LayerParams& p, Tensor* out) {
  ops::evaluate_backward("rnn_layer_backward", ops::backward_layer(kind_of(p), in, 2), p,
                         {*in[0], *in[1], {}, out[0], {}, out[1], {}});
}

// Gradients of gates, hx and weight.
Tensors gradients(const Layer& layer, const ResultGrads& from, const LayerParams& p,
                  bool of_weight) {
  LayerGrads grads;
  if (from.saved.defined()) {
    grads = ops::layer_gradients(ops::state_of(layer, p), from);
  } else {
    auto [gates, hx] = rnn_layer_backward(from.output, from.hn, layer.rows, layer.weight, layer.hx,
                                          layer.batch_sizes, p.reverse, p.relu);
    grads = {gates, {}, hx, {}};
  }
  return {grads.gates, grads.hx, of_weight ? ops::weight_gradient(grads.gates, layer) : Tensor()};
}

const Registered rnn_p =
    layer_primitive<infer<true>, evaluate<true>, require>("rnn_layer", "ttto", 3)
        .vjp("RnnLayerBackward0",
             wrt_all({0, 1, 2}, in(1) | in(2) | in(3) | out(2),
                     [](const Vjp& v, const LayerParams& p) {
                       Tensor saved = v.out(2), hx = v.in(1), weight = v.in(2), sizes = v.in(3);
                       return gradients({kind_of(p), saved, hx, weight, sizes},
                                        {v.grad(0), v.grad(1), {}, v.grad(2)}, p, v.needs(2));
                     }));
// Saves nothing; its gradient computes the forward again.
const Registered rnn_values_p =
    layer_primitive<infer<false>, evaluate<false>, require>("rnn_layer_values", "ttto", 2)
        .vjp("RnnLayerValuesBackward0",
             wrt_all({0, 1, 2}, in(0) | in(1) | in(2) | in(3),
                     [](const Vjp& v, const LayerParams& p) {
                       Tensor hx = v.in(1), weight = v.in(2), sizes = v.in(3);
                       Tensor saved =
                           std::get<2>(rnn_layer(v.in(0), hx, weight, sizes, p.reverse, p.relu));
                       return gradients({kind_of(p), saved, hx, weight, sizes},
                                        {v.grad(0), v.grad(1), {}, {}}, p, v.needs(2));
                     }));
const Registered rnn_backward_p =
    layer_primitive<infer_backward, evaluate_backward, require_backward>("rnn_layer_backward",
                                                                         "oottto", 2)
        .linear_in({0, 1})
        .vjp("RnnLayerBackwardBackward0",
             wrt_all({0, 1, 2, 3}, in(0) | in(1) | in(2) | in(3) | in(4) | in(5),
                     [](const Vjp& v, const LayerParams& p) {
                       auto second = ops::layer_second(
                           {kind_of(p), v.in(2), v.in(3), v.in(4), v.in(5), p.reverse},
                           {v.in(0), v.in(1), {}, {}}, {v.grad(0), {}, v.grad(1), {}});
                       return Tensors{second.grads.output, second.grads.hn, second.grads.saved,
                                      second.weight};
                     }));

Samples samples() {
  Value none;
  return {{{steps(2), state(), weight_of(1)}},
          {{steps(2), state(), weight_of(1), none, Scalar(false), Scalar(true)}, "relu"},
          {{rows(2), state(), weight_of(1), batch_sizes(), Scalar(true)}, "packed, in reverse"}};
}

const auto rnn_entry =
    define(rnn_layer, "A layer of tanh or relu of one direction on the products of its input.",
           [](const Tensor& gates, const Tensor& hx, const Tensor& weight,
              const Tensor& batch_sizes, bool reverse, bool relu) {
             auto [output, hn, saved] =
                 checked_call<3, require>(rnn_p, {reverse, relu}, gates, hx, weight, batch_sizes);
             return std::tuple<Tensor, Tensor, Tensor>(output, hn, saved);
           })
        .shown(Shown::nowhere)
        .samples(samples);
const auto rnn_values_entry =
    define(rnn_layer_values, "The results of rnn_layer without what its backward reads.",
           [](const Tensor& gates, const Tensor& hx, const Tensor& weight,
              const Tensor& batch_sizes, bool reverse, bool relu) {
             auto [output, hn] = checked_call<2, require>(rnn_values_p, {reverse, relu}, gates, hx,
                                                          weight, batch_sizes);
             return std::tuple<Tensor, Tensor>(output, hn);
           })
        .shown(Shown::nowhere)
        .samples(samples);
const auto rnn_backward_entry =
    define(rnn_layer_backward, "The gradients of rnn_layer but that of its weight.",
           [](const Tensor& grad_output, const Tensor& grad_hn, const Tensor& saved,
              const Tensor& weight, const Tensor& hx, const Tensor& batch_sizes, bool reverse,
              bool relu) {
             auto [gates, of_hx] =
                 checked_call<2, require_backward>(rnn_backward_p, {reverse, relu}, grad_output,
                                                   grad_hn, saved, weight, hx, batch_sizes);
             return std::tuple<Tensor, Tensor>(gates, of_hx);
           })
        .shown(Shown::nowhere)
        .samples([] {
          Value none;
          return Samples{
              {{steps(2), state(), steps(4), weight_of(1), state()}},
              {{steps(2), none, steps(4), weight_of(1), state(), none, Scalar(true), Scalar(true)},
               "relu, in reverse"},
              {{rows(2), state(), rows(4), weight_of(1), state(), batch_sizes()}, "packed"}};
        });

}  // namespace
}  // namespace fg

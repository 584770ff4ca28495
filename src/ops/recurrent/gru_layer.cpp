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

// Inputs: gates, hx, weight, bias, batch_sizes.
Layer layer_of(Operands in) { return {CellKind::gru, *in[0], *in[1], *in[2], *in[4]}; }

void require(Operands in, const LayerParams&) {
  Layer layer = layer_of(in);
  ops::check_dtypes("gru_layer", {&layer.rows, &layer.hx, &layer.weight, &*in[3]});
  ops::check_layer("gru_layer", layer, layer.hidden() * 3);
  ops::check_sizes("gru_layer", "hx", layer.hx, layer.state());
  ops::check_sizes("gru_layer", "bias", *in[3], {layer.hidden() * 3});
}
template <bool keeps>
void infer(Operands in, const LayerParams&, Meta* out) {
  ops::infer_layer(layer_of(in), out, 1, keeps);
}
template <bool keeps>
void evaluate(Operands in, const LayerParams& p, Tensor* out) {
  ops::evaluate_forward("gru_layer", layer_of(in), p,
                        {{}, *in[3], out[0], out[1], {}, keeps ? out[2] : Tensor()});
}

// Inputs: gradients of output and hn, saved, weight, hx, batch_sizes.
void require_backward(Operands in, const LayerParams&) {
  ops::require_backward("gru_layer_backward", ops::backward_layer(CellKind::gru, in, 2), in, 2);
}
void infer_backward(Operands in, const LayerParams&, Meta* out) {
  Layer layer = ops::backward_layer(CellKind::gru, in, 2);
  DType dtype = layer.weight.dtype();
  out[0] = out[1] = {layer.per_step(layer.hidden() * 3), dtype};
  out[2] = {layer.hx.sizes(), dtype};
}
void evaluate_backward(Operands in, const LayerParams& p, Tensor* out) {
  ops::evaluate_backward("gru_layer_backward", ops::backward_layer(CellKind::gru, in, 2), p,
                         {*in[0], *in[1], {}, out[0], out[1], out[2], {}});
}

// Gradients of gates, hx, weight and bias.
Tensors gradients(const Layer& layer, const ResultGrads& from, const LayerParams& p, bool of_weight,
                  bool of_bias) {
  LayerGrads grads;
  if (from.saved.defined()) {
    grads = ops::layer_gradients(ops::state_of(layer, p), from);
  } else {
    auto [gates, product, hx] = gru_layer_backward(from.output, from.hn, layer.rows, layer.weight,
                                                   layer.hx, layer.batch_sizes, p.reverse);
    grads = {gates, product, hx, {}};
  }
  return {grads.gates, grads.hx, of_weight ? ops::weight_gradient(grads.product, layer) : Tensor(),
          of_bias ? ops::bias_gradient(grads.product) : Tensor()};
}

const Registered gru_p =
    layer_primitive<infer<true>, evaluate<true>, require>("gru_layer", "tttoo", 3)
        .vjp("GruLayerBackward0",
             wrt_all({0, 1, 2, 3}, in(1) | in(2) | in(4) | out(2),
                     [](const Vjp& v, const LayerParams& p) {
                       Tensor saved = v.out(2), hx = v.in(1), weight = v.in(2), sizes = v.in(4);
                       return gradients({CellKind::gru, saved, hx, weight, sizes},
                                        {v.grad(0), v.grad(1), {}, v.grad(2)}, p, v.needs(2),
                                        v.needs(3));
                     }));
// Saves nothing; its gradient computes the forward again.
const Registered gru_values_p =
    layer_primitive<infer<false>, evaluate<false>, require>("gru_layer_values", "tttoo", 2)
        .vjp("GruLayerValuesBackward0",
             wrt_all({0, 1, 2, 3}, in(0) | in(1) | in(2) | in(3) | in(4),
                     [](const Vjp& v, const LayerParams& p) {
                       Tensor hx = v.in(1), weight = v.in(2), sizes = v.in(4);
                       Tensor saved =
                           std::get<2>(gru_layer(v.in(0), hx, weight, v.in(3), sizes, p.reverse));
                       return gradients({CellKind::gru, saved, hx, weight, sizes},
                                        {v.grad(0), v.grad(1), {}, {}}, p, v.needs(2), v.needs(3));
                     }));
const Registered gru_backward_p =
    layer_primitive<infer_backward, evaluate_backward, require_backward>("gru_layer_backward",
                                                                         "oottto", 3)
        .linear_in({0, 1})
        .vjp("GruLayerBackwardBackward0",
             wrt_all({0, 1, 2, 3}, in(0) | in(1) | in(2) | in(3) | in(4) | in(5),
                     [](const Vjp& v, const LayerParams& p) {
                       auto second = ops::layer_second(
                           {CellKind::gru, v.in(2), v.in(3), v.in(4), v.in(5), p.reverse},
                           {v.in(0), v.in(1), {}, {}}, {v.grad(0), v.grad(1), v.grad(2), {}});
                       return Tensors{second.grads.output, second.grads.hn, second.grads.saved,
                                      second.weight};
                     }));

const auto gru_entry =
    define(gru_layer, "A GRU of one direction on the products of its input.",
           [](const Tensor& gates, const Tensor& hx, const Tensor& weight, const Tensor& bias,
              const Tensor& batch_sizes, bool reverse) {
             auto [output, hn, saved] =
                 checked_call<3, require>(gru_p, {reverse}, gates, hx, weight, bias, batch_sizes);
             return std::tuple<Tensor, Tensor, Tensor>(output, hn, saved);
           })
        .shown(Shown::nowhere)
        .samples([] {
          return Samples{{{steps(6), state(), weight_of(3), sample({6})}},
                         {{rows(6), state(), weight_of(3), Value(), batch_sizes(), Scalar(true)},
                          "packed, in reverse, without bias"}};
        });
const auto gru_values_entry =
    define(gru_layer_values, "The results of gru_layer without what its backward reads.",
           [](const Tensor& gates, const Tensor& hx, const Tensor& weight, const Tensor& bias,
              const Tensor& batch_sizes, bool reverse) {
             auto [output, hn] = checked_call<2, require>(gru_values_p, {reverse}, gates, hx,
                                                          weight, bias, batch_sizes);
             return std::tuple<Tensor, Tensor>(output, hn);
           })
        .shown(Shown::nowhere)
        .samples([] {
          return Samples{{{steps(6), state(), weight_of(3), sample({6})}},
                         {{rows(6), state(), weight_of(3), Value(), batch_sizes(), Scalar(true)},
                          "packed, in reverse, without bias"}};
        });
const auto gru_backward_entry =
    define(gru_layer_backward,
           "The gradients of gru_layer; that of its products with the weight instead of the "
           "weight's.",
           [](const Tensor& grad_output, const Tensor& grad_hn, const Tensor& saved,
              const Tensor& weight, const Tensor& hx, const Tensor& batch_sizes, bool reverse) {
             auto [gates, product, of_hx] = checked_call<3, require_backward>(
                 gru_backward_p, {reverse}, grad_output, grad_hn, saved, weight, hx, batch_sizes);
             return std::tuple<Tensor, Tensor, Tensor>(gates, product, of_hx);
           })
        .shown(Shown::nowhere)
        .samples([] {
          return Samples{
              {{steps(2), state(), steps(10), weight_of(3), state()}},
              {{Value(), state(), rows(10), weight_of(3), state(), batch_sizes()}, "packed"}};
        });

}  // namespace
}  // namespace fg

#include "ops/recurrent/recurrent_layer.h"

#include "ir/define.h"
#include "ops/recurrent/layer_kind.h"
#include "ops/recurrent/layer_rules.h"
#include "ops/view/view_kind.h"

namespace fg {

using namespace ir;
using kernels::CellKind;
using ops::check_dtypes;
using ops::check_layer;
using ops::check_sizes;
using ops::evaluate_backward;
using ops::evaluate_forward;
using ops::Layer;
using ops::LayerParams;
using ops::plain_kind;

namespace {

// ---- the primitives

Dims saved_sizes(const Layer& layer, const LayerParams& p) {
  return p.keep ? layer.per_step(layer.saved()) : Dims{0};
}

Layer lstm_operands(Operands in) { return {CellKind::lstm, *in[0], *in[1], *in[3], *in[4]}; }
Layer gru_operands(Operands in) { return {CellKind::gru, *in[0], *in[1], *in[2], *in[4]}; }
Layer rnn_operands(Operands in, const LayerParams& p) {
  return {plain_kind(p), *in[0], *in[1], *in[2], *in[3]};
}
// Of a backward: saved, weight, hx and batch_sizes follow the gradients.
Layer backward_operands(CellKind kind, Operands in, size_t grads) {
  return {kind, *in[grads], *in[grads + 2], *in[grads + 1], *in[grads + 3]};
}

void require_lstm(Operands in, const LayerParams&) {
  Layer layer = lstm_operands(in);
  check_dtypes("lstm_layer", {&layer.rows, &layer.hx, &*in[2], &layer.weight});
  check_layer("lstm_layer", layer, layer.hidden() * 4);
  check_sizes("lstm_layer", "cx", *in[2], layer.state());
}
void require_gru(Operands in, const LayerParams&) {
  Layer layer = gru_operands(in);
  check_dtypes("gru_layer", {&layer.rows, &layer.hx, &layer.weight, &*in[3]});
  check_layer("gru_layer", layer, layer.hidden() * 3);
  check_sizes("gru_layer", "hx", layer.hx, layer.state());
  check_sizes("gru_layer", "bias", *in[3], {layer.hidden() * 3});
}
void require_rnn(Operands in, const LayerParams& p) {
  Layer layer = rnn_operands(in, p);
  check_dtypes("rnn_layer", {&layer.rows, &layer.hx, &layer.weight});
  check_layer("rnn_layer", layer, layer.hidden());
}
void require_backward(const char* who, const Layer& layer, Operands in, size_t grads) {
  check_dtypes(who, {&layer.rows, &layer.hx, &layer.weight});
  check_layer(who, layer, layer.saved());
  for (size_t i = 0; i < grads; i++) {
    if (!in[i]->defined()) continue;
    check_dtypes(who, {&layer.rows, &*in[i]});
    check_sizes(who, "a gradient", *in[i], i == 0 ? layer.per_step(layer.hidden()) : layer.state());
  }
}
void require_lstm_backward(Operands in, const LayerParams&) {
  require_backward("lstm_layer_backward", backward_operands(CellKind::lstm, in, 3), in, 3);
}
void require_gru_backward(Operands in, const LayerParams&) {
  require_backward("gru_layer_backward", backward_operands(CellKind::gru, in, 2), in, 2);
}
void require_rnn_backward(Operands in, const LayerParams& p) {
  require_backward("rnn_layer_backward", backward_operands(plain_kind(p), in, 2), in, 2);
}

void infer_forward(const Layer& layer, const LayerParams& p, Meta* out, int count) {
  DType dtype = layer.weight.dtype();
  out[0] = {layer.per_step(layer.hidden()), dtype};
  for (int i = 1; i < count - 1; i++) out[i] = {layer.state(), dtype};
  out[count - 1] = {saved_sizes(layer, p), dtype};
}
void infer_lstm(Operands in, const LayerParams& p, Meta* out) {
  infer_forward(lstm_operands(in), p, out, 4);
}
void infer_gru(Operands in, const LayerParams& p, Meta* out) {
  infer_forward(gru_operands(in), p, out, 3);
}
void infer_rnn(Operands in, const LayerParams& p, Meta* out) {
  infer_forward(rnn_operands(in, p), p, out, 3);
}
void evaluate_lstm(Operands in, const LayerParams& p, Tensor* out) {
  evaluate_forward("lstm_layer", lstm_operands(in), p,
                   {*in[2], {}, out[0], out[1], out[2], out[3]});
}
void evaluate_gru(Operands in, const LayerParams& p, Tensor* out) {
  evaluate_forward("gru_layer", gru_operands(in), p, {{}, *in[3], out[0], out[1], {}, out[2]});
}
void evaluate_rnn(Operands in, const LayerParams& p, Tensor* out) {
  evaluate_forward("rnn_layer", rnn_operands(in, p), p, {{}, {}, out[0], out[1], {}, out[2]});
}

void infer_lstm_backward(Operands in, const LayerParams&, Meta* out) {
  Layer layer = backward_operands(CellKind::lstm, in, 3);
  DType dtype = layer.weight.dtype();
  out[0] = {layer.per_step(layer.hidden() * 4), dtype};
  out[1] = {layer.hx.sizes(), dtype};
  out[2] = {layer.state(), dtype};
}
void infer_gru_backward(Operands in, const LayerParams&, Meta* out) {
  Layer layer = backward_operands(CellKind::gru, in, 2);
  DType dtype = layer.weight.dtype();
  out[0] = out[1] = {layer.per_step(layer.hidden() * 3), dtype};
  out[2] = {layer.hx.sizes(), dtype};
}
void infer_rnn_backward(Operands in, const LayerParams& p, Meta* out) {
  Layer layer = backward_operands(plain_kind(p), in, 2);
  DType dtype = layer.weight.dtype();
  out[0] = {layer.per_step(layer.hidden()), dtype};
  out[1] = {layer.hx.sizes(), dtype};
}
void evaluate_lstm_backward(Operands in, const LayerParams& p, Tensor* out) {
  evaluate_backward("lstm_layer_backward", backward_operands(CellKind::lstm, in, 3), p,
                    {*in[0], *in[1], *in[2], out[0], {}, out[1], out[2]});
}
void evaluate_gru_backward(Operands in, const LayerParams& p, Tensor* out) {
  evaluate_backward("gru_layer_backward", backward_operands(CellKind::gru, in, 2), p,
                    {*in[0], *in[1], {}, out[0], out[1], out[2], {}});
}
void evaluate_rnn_backward(Operands in, const LayerParams& p, Tensor* out) {
  evaluate_backward("rnn_layer_backward", backward_operands(plain_kind(p), in, 2), p,
                    {*in[0], *in[1], {}, out[0], {}, out[1], {}});
}

template <auto infer, auto evaluate, auto require>
Primitive<LayerParams> layer_primitive(const char* name, const char* operands, int outputs) {
  return ops::plain_primitive<LayerParams, infer, evaluate>(name, Kind::extern_call, operands,
                                                            outputs)
      .template requiring<require>();
}

// Gradients of inputs from what they are made of; `saved` is the last result.
using saves::in, saves::out;
constexpr auto lstm_rules =
    wrt_all({0, 1, 2, 3}, in(1) | in(3) | in(4) | out(3),
            [](const Vjp& v, const LayerParams& p) { return ops::lstm_rule(v, p); });
constexpr auto gru_rules =
    wrt_all({0, 1, 2, 3}, in(1) | in(2) | in(4) | out(2),
            [](const Vjp& v, const LayerParams& p) { return ops::gru_rule(v, p); });
constexpr auto rnn_rules =
    wrt_all({0, 1, 2}, in(1) | in(2) | in(3) | out(2),
            [](const Vjp& v, const LayerParams& p) { return ops::rnn_rule(v, p); });
constexpr Saves kFirstSix = in(0) | in(1) | in(2) | in(3) | in(4) | in(5);

const Registered lstm_p =
    layer_primitive<infer_lstm, evaluate_lstm, require_lstm>("lstm_layer", "tttto", 4)
        .vjp("LstmLayerBackward0", lstm_rules);
const Registered gru_p =
    layer_primitive<infer_gru, evaluate_gru, require_gru>("gru_layer", "tttoo", 3)
        .vjp("GruLayerBackward0", gru_rules);
const Registered rnn_p =
    layer_primitive<infer_rnn, evaluate_rnn, require_rnn>("rnn_layer", "ttto", 3)
        .vjp("RnnLayerBackward0", rnn_rules);
const Registered lstm_backward_p =
    layer_primitive<infer_lstm_backward, evaluate_lstm_backward, require_lstm_backward>(
        "lstm_layer_backward", "ooottto", 3)
        .linear_in({0, 1, 2})
        .vjp("LstmLayerBackwardBackward0",
             wrt_all({0, 1, 2, 3, 4}, kFirstSix | in(6), [](const Vjp& v, const LayerParams& p) {
               return ops::lstm_second_rule(v, p);
             }));
const Registered gru_backward_p =
    layer_primitive<infer_gru_backward, evaluate_gru_backward, require_gru_backward>(
        "gru_layer_backward", "oottto", 3)
        .linear_in({0, 1})
        .vjp("GruLayerBackwardBackward0",
             wrt_all({0, 1, 2, 3}, kFirstSix, [](const Vjp& v, const LayerParams& p) {
               return ops::gru_second_rule(v, p);
             }));
const Registered rnn_backward_p =
    layer_primitive<infer_rnn_backward, evaluate_rnn_backward, require_rnn_backward>(
        "rnn_layer_backward", "oottto", 2)
        .linear_in({0, 1})
        .vjp("RnnLayerBackwardBackward0",
             wrt_all({0, 1, 2, 3}, kFirstSix, [](const Vjp& v, const LayerParams& p) {
               return ops::rnn_second_rule(v, p);
             }));

// Calls a primitive after a check of its operands.
template <size_t N, auto require, class P, class... T>
std::array<Tensor, N> checked_call(const P& primitive, const LayerParams& params, const T&... in) {
  const std::array<Operand, sizeof...(T)> operands{Operand(in)...};
  require(Operands(operands), params);
  return primitive.template all<N>(params, in...);
}
using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;
using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

// ---- samples: three steps of two sequences of two units, or of three, two and one sequences

Tensor steps(int64_t width) { return sample({3, 2, width}, -1, 1); }
Tensor rows(int64_t width) { return sample({6, width}, -1, 1); }
Tensor batch_sizes() { return tensor(std::vector<int64_t>{3, 2, 1}); }
Tensor state(int64_t batch) { return sample({batch, 2}, -0.9, 0.8); }
Tensor weight_of(int64_t gates) { return sample({gates * 2, 2}, -1, 1); }

const auto lstm_entry =
    define(lstm_layer, "An LSTM of one direction on the products of its input.",
           [](const Tensor& gates, const Tensor& hx, const Tensor& cx, const Tensor& weight,
              const Tensor& batch_sizes, bool reverse, bool keep) {
             auto [output, hn, cn, saved] = checked_call<4, require_lstm>(
                 lstm_p, {reverse, keep}, gates, hx, cx, weight, batch_sizes);
             return Four(output, hn, cn, saved);
           })
        .shown(Shown::nowhere)
        .samples([] {
          return Samples{{{steps(8), state(2), state(2), weight_of(4)}},
                         {{rows(8), state(3), state(3), weight_of(4), batch_sizes(), Scalar(true)},
                          "packed, in reverse"},
                         {{sample({1, 2, 8}), sample({2, 3}), state(2), sample({8, 3}, -1, 1)},
                          "a state of another width"}};
        });
const auto lstm_backward_entry =
    define(lstm_layer_backward, "The gradients of lstm_layer but that of its weight.",
           [](const Tensor& grad_output, const Tensor& grad_hn, const Tensor& grad_cn,
              const Tensor& saved, const Tensor& weight, const Tensor& hx,
              const Tensor& batch_sizes, bool reverse) {
             auto [gates, of_hx, of_cx] = checked_call<3, require_lstm_backward>(
                 lstm_backward_p, {reverse}, grad_output, grad_hn, grad_cn, saved, weight, hx,
                 batch_sizes);
             return Three(gates, of_hx, of_cx);
           })
        .shown(Shown::nowhere)
        .samples([] {
          Value none;
          return Samples{{{steps(2), state(2), state(2), steps(12), weight_of(4), state(2)}},
                         {{rows(2), none, state(3), rows(12), weight_of(4), state(3), batch_sizes(),
                           Scalar(true)},
                          "packed, in reverse"}};
        });

const auto gru_entry =
    define(gru_layer, "A GRU of one direction on the products of its input.",
           [](const Tensor& gates, const Tensor& hx, const Tensor& weight, const Tensor& bias,
              const Tensor& batch_sizes, bool reverse, bool keep) {
             auto [output, hn, saved] = checked_call<3, require_gru>(gru_p, {reverse, keep}, gates,
                                                                     hx, weight, bias, batch_sizes);
             return Three(output, hn, saved);
           })
        .shown(Shown::nowhere)
        .samples([] {
          return Samples{{{steps(6), state(2), weight_of(3), sample({6})}},
                         {{rows(6), state(3), weight_of(3), Value(), batch_sizes(), Scalar(true)},
                          "packed, in reverse, without bias"}};
        });
const auto gru_backward_entry =
    define(gru_layer_backward,
           "The gradients of gru_layer; that of its products with the weight instead of the "
           "weight's.",
           [](const Tensor& grad_output, const Tensor& grad_hn, const Tensor& saved,
              const Tensor& weight, const Tensor& hx, const Tensor& batch_sizes, bool reverse) {
             auto [gates, product, of_hx] = checked_call<3, require_gru_backward>(
                 gru_backward_p, {reverse}, grad_output, grad_hn, saved, weight, hx, batch_sizes);
             return Three(gates, product, of_hx);
           })
        .shown(Shown::nowhere)
        .samples([] {
          return Samples{
              {{steps(2), state(2), steps(10), weight_of(3), state(2)}},
              {{Value(), state(3), rows(10), weight_of(3), state(3), batch_sizes()}, "packed"}};
        });

const auto rnn_entry =
    define(rnn_layer, "A layer of tanh or relu of one direction on the products of its input.",
           [](const Tensor& gates, const Tensor& hx, const Tensor& weight,
              const Tensor& batch_sizes, bool reverse, bool relu, bool keep) {
             auto [output, hn, saved] = checked_call<3, require_rnn>(
                 rnn_p, {reverse, keep, relu}, gates, hx, weight, batch_sizes);
             return Three(output, hn, saved);
           })
        .shown(Shown::nowhere)
        .samples([] {
          Value none;
          return Samples{
              {{steps(2), state(2), weight_of(1)}},
              {{steps(2), state(2), weight_of(1), none, Scalar(false), Scalar(true)}, "relu"},
              {{rows(2), state(3), weight_of(1), batch_sizes(), Scalar(true)},
               "packed, in reverse"}};
        });
const auto rnn_backward_entry =
    define(rnn_layer_backward, "The gradients of rnn_layer but that of its weight.",
           [](const Tensor& grad_output, const Tensor& grad_hn, const Tensor& saved,
              const Tensor& weight, const Tensor& hx, const Tensor& batch_sizes, bool reverse,
              bool relu) {
             auto [gates, of_hx] = checked_call<2, require_rnn_backward>(
                 rnn_backward_p, {reverse, true, relu}, grad_output, grad_hn, saved, weight, hx,
                 batch_sizes);
             return Two(gates, of_hx);
           })
        .shown(Shown::nowhere)
        .samples([] {
          Value none;
          return Samples{
              {{steps(2), state(2), steps(4), weight_of(1), state(2)}},
              {{steps(2), none, steps(4), weight_of(1), state(2), none, Scalar(true), Scalar(true)},
               "relu, in reverse"},
              {{rows(2), state(3), rows(4), weight_of(1), state(3), batch_sizes()}, "packed"}};
        });

}  // namespace
}  // namespace fg

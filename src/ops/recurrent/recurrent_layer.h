// Recurrent layers of one direction, behind lstm, gru and rnn: primitives with a kernel of their
// own. `gates` are the products of the inputs with all biases (gru: with that of the input), for
// all steps: (steps, batch, gates), or (rows, gates) where batch_sizes has the rows of each step.
// `saved` has what the backward reads; the functions of values are the same without it.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<
    "lstm_layer(Tensor gates, Tensor hx, Tensor cx, Tensor weight, Tensor? batch_sizes=None, bool "
    "reverse=False) -> (Tensor output, Tensor hn, Tensor cn, Tensor saved)">
    lstm_layer;
FG_FUNCTION ir::Function<
    "lstm_layer_values(Tensor gates, Tensor hx, Tensor cx, Tensor weight, Tensor? "
    "batch_sizes=None, bool reverse=False) -> (Tensor output, Tensor hn, Tensor cn)">
    lstm_layer_values;
FG_FUNCTION ir::Function<
    "lstm_layer_backward(Tensor? grad_output, Tensor? grad_hn, Tensor? grad_cn, Tensor saved, "
    "Tensor weight, Tensor hx, Tensor? batch_sizes=None, bool reverse=False) -> (Tensor "
    "grad_gates, Tensor grad_hx, Tensor grad_cx)">
    lstm_layer_backward;
FG_FUNCTION ir::Function<
    "gru_layer(Tensor gates, Tensor hx, Tensor weight, Tensor? bias=None, Tensor? "
    "batch_sizes=None, bool reverse=False) -> (Tensor output, Tensor hn, Tensor saved)">
    gru_layer;
FG_FUNCTION ir::Function<
    "gru_layer_values(Tensor gates, Tensor hx, Tensor weight, Tensor? bias=None, Tensor? "
    "batch_sizes=None, bool reverse=False) -> (Tensor output, Tensor hn)">
    gru_layer_values;
FG_FUNCTION ir::Function<
    "gru_layer_backward(Tensor? grad_output, Tensor? grad_hn, Tensor saved, Tensor weight, Tensor "
    "hx, Tensor? batch_sizes=None, bool reverse=False) -> (Tensor grad_gates, Tensor "
    "grad_product, Tensor grad_hx)">
    gru_layer_backward;
FG_FUNCTION ir::Function<
    "rnn_layer(Tensor gates, Tensor hx, Tensor weight, Tensor? batch_sizes=None, bool "
    "reverse=False, bool relu=False) -> (Tensor output, Tensor hn, Tensor saved)">
    rnn_layer;
FG_FUNCTION ir::Function<
    "rnn_layer_values(Tensor gates, Tensor hx, Tensor weight, Tensor? batch_sizes=None, bool "
    "reverse=False, bool relu=False) -> (Tensor output, Tensor hn)">
    rnn_layer_values;
FG_FUNCTION ir::Function<
    "rnn_layer_backward(Tensor? grad_output, Tensor? grad_hn, Tensor saved, Tensor weight, Tensor "
    "hx, Tensor? batch_sizes=None, bool reverse=False, bool relu=False) -> (Tensor grad_gates, "
    "Tensor grad_hx)">
    rnn_layer_backward;

}  // namespace fg

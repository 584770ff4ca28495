// Losses. `reduction` turns the losses of the elements into a result: 'none', 'mean' or 'sum'.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"mse_loss(Tensor self, Tensor target, str reduction='mean') -> Tensor">
    mse_loss;
FG_FUNCTION ir::Function<
    "mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, str reduction) -> Tensor">
    mse_loss_backward;
FG_FUNCTION ir::Function<"l1_loss(Tensor self, Tensor target, str reduction='mean') -> Tensor">
    l1_loss;
FG_FUNCTION ir::Function<
    "smooth_l1_loss(Tensor self, Tensor target, str reduction='mean', float beta=1.0) -> Tensor">
    smooth_l1_loss;
FG_FUNCTION ir::Function<
    "smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, str reduction, float "
    "beta) -> Tensor">
    smooth_l1_loss_backward;
FG_FUNCTION ir::Function<
    "huber_loss(Tensor self, Tensor target, str reduction='mean', float delta=1.0) -> Tensor">
    huber_loss;
FG_FUNCTION ir::Function<
    "huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, str reduction, float "
    "delta) -> Tensor">
    huber_loss_backward;
FG_FUNCTION ir::Function<
    "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, str reduction='mean') "
    "-> Tensor">
    binary_cross_entropy;
FG_FUNCTION ir::Function<
    "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target) -> Tensor">
    binary_cross_entropy_backward;
FG_FUNCTION ir::Function<
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, str "
    "reduction='mean', Tensor? pos_weight=None) -> Tensor">
    binary_cross_entropy_with_logits;
// Also with reduction 'batchmean': the sum over the size of the first dimension.
FG_FUNCTION ir::Function<
    "kl_div(Tensor self, Tensor target, str reduction='mean', *, bool log_target=False) -> Tensor">
    kl_div;

// Scores of classes in dimension 1, or 0 of a vector; the target has one class index per sample.
FG_FUNCTION ir::Function<
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int ignore_index=-100, str "
    "reduction='mean') -> Tensor">
    nll_loss;
FG_FUNCTION ir::Function<
    "cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int ignore_index=-100, str "
    "reduction='mean', float label_smoothing=0.0) -> Tensor">
    cross_entropy;

}  // namespace fg

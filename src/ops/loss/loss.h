// Losses. `reduction` turns the losses of the elements into a result: 'none', 'mean' or 'sum'.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<
    "mse_loss(Tensor self, Tensor target, str reduction='mean') -> Tensor">
    mse_loss;
inline constexpr ir::Function<
    "mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, str reduction) -> Tensor">
    mse_loss_backward;
inline constexpr ir::Function<"l1_loss(Tensor self, Tensor target, str reduction='mean') -> Tensor">
    l1_loss;
inline constexpr ir::Function<
    "smooth_l1_loss(Tensor self, Tensor target, str reduction='mean', float beta=1.0) -> Tensor">
    smooth_l1_loss;
inline constexpr ir::Function<
    "smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, str reduction, float "
    "beta) -> Tensor">
    smooth_l1_loss_backward;
inline constexpr ir::Function<
    "huber_loss(Tensor self, Tensor target, str reduction='mean', float delta=1.0) -> Tensor">
    huber_loss;
inline constexpr ir::Function<
    "huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, str reduction, float "
    "delta) -> Tensor">
    huber_loss_backward;
inline constexpr ir::Function<
    "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, str reduction='mean') "
    "-> Tensor">
    binary_cross_entropy;
inline constexpr ir::Function<
    "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target) -> Tensor">
    binary_cross_entropy_backward;
inline constexpr ir::Function<
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, str "
    "reduction='mean', Tensor? pos_weight=None) -> Tensor">
    binary_cross_entropy_with_logits;
// Also with reduction 'batchmean': the sum over the size of the first dimension.
inline constexpr ir::Function<
    "kl_div(Tensor self, Tensor target, str reduction='mean', *, bool log_target=False) -> Tensor">
    kl_div;

// Scores of classes in dimension 1, or 0 of a vector; the target has one class index per sample.
inline constexpr ir::Function<
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int ignore_index=-100, str "
    "reduction='mean') -> Tensor">
    nll_loss;
inline constexpr ir::Function<
    "cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int ignore_index=-100, str "
    "reduction='mean', float label_smoothing=0.0) -> Tensor">
    cross_entropy;

}  // namespace fg

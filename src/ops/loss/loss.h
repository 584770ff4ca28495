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

// ---- margins: hinges of differences, distances and scores
FG_FUNCTION ir::Function<
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, str "
    "reduction='mean') -> Tensor">
    margin_ranking_loss;
FG_FUNCTION ir::Function<
    "hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, str reduction='mean') -> "
    "Tensor">
    hinge_embedding_loss;
FG_FUNCTION ir::Function<
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, str "
    "reduction='mean') -> Tensor">
    cosine_embedding_loss;
FG_FUNCTION ir::Function<
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float "
    "p=2.0, float eps=1e-06, bool swap=False, str reduction='mean') -> Tensor">
    triplet_margin_loss;
FG_FUNCTION
ir::Function<"soft_margin_loss(Tensor self, Tensor target, str reduction='mean') -> Tensor">
    soft_margin_loss;
FG_FUNCTION ir::Function<
    "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? "
    "weight=None, str reduction='mean') -> Tensor">
    multi_margin_loss;
// The classes of a sample are the targets before the first -1.
FG_FUNCTION ir::Function<
    "multilabel_margin_loss(Tensor self, Tensor target, str reduction='mean') -> Tensor">
    multilabel_margin_loss;
FG_FUNCTION ir::Function<
    "multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, str "
    "reduction='mean') -> Tensor">
    multilabel_soft_margin_loss;

// ---- likelihoods of counts and of normal values; scores computed from features
FG_FUNCTION ir::Function<
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, float "
    "eps=1e-08, str reduction='mean') -> Tensor">
    poisson_nll_loss;
FG_FUNCTION ir::Function<
    "gaussian_nll_loss(Tensor input, Tensor target, Tensor var, bool full=False, float eps=1e-06, "
    "str reduction='mean') -> Tensor">
    gaussian_nll_loss;
FG_FUNCTION ir::Function<
    "linear_cross_entropy(Tensor input, Tensor linear_weight, Tensor target, *, Tensor? "
    "linear_bias=None, Tensor? weight=None, str reduction='mean', int? ignore_index=None, float "
    "label_smoothing=0.0) -> Tensor">
    linear_cross_entropy;

// log_probs [times, n, classes] or [times, classes]; targets are rows of labels, or all in one row.
FG_FUNCTION ir::Function<
    "ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int "
    "blank=0, str reduction='mean', bool zero_infinity=False) -> Tensor">
    ctc_loss;

}  // namespace fg

// Dropout: elements become zero at random, the others grow so that the mean stays.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"dropout(Tensor input, float p=0.5, bool train=True) -> Tensor"> dropout;
// As dropout, but whole channels: the elements of one [n, c] stay or vanish together.
FG_FUNCTION ir::Function<"feature_dropout(Tensor input, float p=0.5, bool train=True) -> Tensor">
    feature_dropout;
// Elements, or whole channels, get the limit of selu towards minus infinity; then all are scaled
// and shifted so that mean and variance stay.
FG_FUNCTION ir::Function<"alpha_dropout(Tensor input, float p=0.5, bool train=True) -> Tensor">
    alpha_dropout;
FG_FUNCTION
ir::Function<"feature_alpha_dropout(Tensor input, float p=0.5, bool train=True) -> Tensor">
    feature_alpha_dropout;

// leaky_relu with slopes drawn from [lower, upper) in training, else with their mean.
FG_FUNCTION ir::Function<
    "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, "
    "Generator? generator=None) -> Tensor">
    rrelu;
// Self times slopes, which are constants: the node of rrelu.
FG_FUNCTION ir::Function<"rrelu_with_slopes(Tensor self, Tensor slopes) -> Tensor">
    rrelu_with_slopes;
// Samples of a distribution over classes, as probabilities or (hard) as one class.
FG_FUNCTION ir::Function<
    "gumbel_softmax(Tensor logits, float tau=1.0, bool hard=False, int dim=-1) -> Tensor">
    gumbel_softmax;
FG_FUNCTION ir::InplaceOf<decltype(rrelu)> rrelu_;

}  // namespace fg

"""The losses of nn.functional that lie on the functions of the table, and distances."""

import warnings as _warnings

from foregrad import _C
from foregrad._creation import tensor as _tensor

_f = _C._functions

__all__ = ["cosine_embedding_loss", "cosine_similarity", "ctc_loss", "gaussian_nll_loss",
           "hinge_embedding_loss", "linear_cross_entropy", "margin_ranking_loss",
           "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
           "pairwise_distance", "pdist", "poisson_nll_loss", "soft_margin_loss",
           "triplet_margin_loss", "triplet_margin_with_distance_loss"]

cosine_similarity = _f.cosine_similarity
pairwise_distance = _f.pairwise_distance
pdist = _f.pdist


def _reduction(reduction, size_average, reduce):
    """The name of a reduction, also from the two flags of old programs."""
    if size_average is None and reduce is None:
        return reduction
    _warnings.warn("size_average and reduce args will be deprecated, please use reduction="
                   f"'{_old_reduction(size_average, reduce)}' instead.", stacklevel=3)
    return _old_reduction(size_average, reduce)


def _old_reduction(size_average, reduce):
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None,
                        reduction="mean"):
    """max(0, -target * (input1 - input2) + margin)."""
    return _f.margin_ranking_loss(input1, input2, target, margin,
                                  _reduction(reduction, size_average, reduce))


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None,
                         reduction="mean"):
    """The input where the target is 1, max(0, margin - input) where it is -1."""
    return _f.hinge_embedding_loss(input, target, margin,
                                   _reduction(reduction, size_average, reduce))


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None,
                          reduction="mean"):
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1."""
    return _f.cosine_embedding_loss(input1, input2, target, margin,
                                    _reduction(reduction, size_average, reduce))


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * input))."""
    return _f.soft_margin_loss(input, target, _reduction(reduction, size_average, reduce))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None,
                      reduction="mean"):
    """The mean over other classes of max(0, margin - input[target] + input[class])^p."""
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _f.multi_margin_loss(input, target, p, margin, weight,
                                _reduction(reduction, size_average, reduce))


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """The sum over targets and other classes of max(0, 1 - input[target] + input[class]) / C."""
    return _f.multilabel_margin_loss(input, target, _reduction(reduction, size_average, reduce))


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None,
                                reduction="mean"):
    """The mean over the classes of the logistic losses of each."""
    return _f.multilabel_soft_margin_loss(input, target, weight,
                                          _reduction(reduction, size_average, reduce))


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False,
                        size_average=None, reduce=None, reduction="mean"):
    """max(0, margin + distance to the positive - distance to the negative)."""
    _check_margin(margin)
    return _f.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap,
                                  _reduction(reduction, size_average, reduce))


def _check_margin(margin):
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None,
                                      margin=1.0, swap=False, reduction="mean"):
    """triplet_margin_loss with a distance of the caller's."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    _check_margin(margin)
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and "
            f"negative {negative.dim()}D inputs")
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _f.minimum(far, distance(positive, negative))
    loss = (margin + near - far).clamp_min(0)
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.mean()


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8,
                     reduce=None, reduction="mean"):
    """The negative log likelihood of counts; the input is their rate, or its logarithm."""
    return _f.poisson_nll_loss(input, target, log_input, full, eps,
                               _reduction(reduction, size_average, reduce))


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """The negative log likelihood of values with the given means and variances."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = input.new_full((), var)
    return _f.gaussian_nll_loss(input, target, var, full, eps, reduction)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean",
             zero_infinity=False):
    """-log of the probability that a sequence of distributions spells the targets."""
    lengths = (each if isinstance(each, _C.Tensor) else _tensor(each, dtype=_C.int64)
               for each in (input_lengths, target_lengths))
    return _f.ctc_loss(log_probs, targets, *lengths, blank, reduction, zero_infinity)


def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None,
                         reduction="mean", ignore_index=None, label_smoothing=0.0, options=None):
    """cross_entropy of linear(input, linear_weight, linear_bias)."""
    if options is not None:
        _warnings.warn("linear_cross_entropy: options say how PyTorch cuts the batch into chunks "
                       "to save memory; Foregrad computes the same without them.", stacklevel=2)
    return _f.linear_cross_entropy(
        input, linear_weight, target, linear_bias=linear_bias, weight=weight, reduction=reduction,
        ignore_index=ignore_index, label_smoothing=label_smoothing)

"""torch.nn.functional: the same functions with PyTorch's signatures."""

import math as _math
import warnings as _warnings

from foregrad import _C
from foregrad.nn._functional_images import *  # noqa: F403
from foregrad.nn._functional_losses import *  # noqa: F403
from foregrad.nn._functional_losses import _reduction
from foregrad.nn._functional_pooling import *  # noqa: F403
from foregrad.nn._functional_rows import *  # noqa: F403
from foregrad.nn._multihead import multi_head_attention_forward  # noqa: F401

_f = _C._functions

# Those whose schema is PyTorch's signature.
bilinear = _f.bilinear
conv_tbc = _f.conv_tbc
conv1d = _f.conv1d
conv2d = _f.conv2d
conv3d = _f.conv3d
conv_transpose1d = _f.conv_transpose1d
conv_transpose2d = _f.conv_transpose2d
conv_transpose3d = _f.conv_transpose3d
gelu = _f.gelu
glu = _f.glu
hardshrink = _f.hardshrink
linear = _f.linear
logsigmoid = _f.log_sigmoid
one_hot = _f.one_hot
pad = _f.pad
prelu = _f.prelu
scaled_dot_product_attention = _f.scaled_dot_product_attention
softplus = _f.softplus
softshrink = _f.softshrink
softsign = _f.softsign
tanhshrink = _f.tanhshrink
celu_ = _f.celu_
elu_ = _f.elu_
hardtanh_ = _f.hardtanh_
leaky_relu_ = _f.leaky_relu_
relu_ = _f.relu_
rrelu_ = _f.rrelu_
selu_ = _f.selu_
threshold_ = _f.threshold_


def relu6(input, inplace=False):
    """x limited to [0, 6]."""
    return _f.hardtanh_(input, 0, 6) if inplace else _f.relu6(input)


def hardsigmoid(input, inplace=False):
    """(x + 3) / 6, limited to [0, 1]."""
    return _f.hardsigmoid_(input) if inplace else _f.hardsigmoid(input)


def hardswish(input, inplace=False):
    """x * hardsigmoid(x)."""
    return _f.hardswish_(input) if inplace else _f.hardswish(input)


def celu(input, alpha=1.0, inplace=False):
    """x where positive, alpha * (exp(x / alpha) - 1) elsewhere."""
    return _f.celu_(input, alpha) if inplace else _f.celu(input, alpha)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """x where positive, elsewhere x times a slope, drawn from [lower, upper) in training."""
    call = _f.rrelu_ if inplace else _f.rrelu
    return call(input, lower, upper, training)


def selu(input, inplace=False):
    """The scaled exponential linear unit."""
    if inplace:
        return _f.selu_(input)
    return _f.selu(input)


def silu(input, inplace=False):
    """x * sigmoid(x)."""
    return _f.silu_(input) if inplace else _f.silu(input)


def mish(input, inplace=False):
    """x * tanh(softplus(x))."""
    return _f.mish_(input) if inplace else _f.mish(input)


def threshold(input, threshold, value, inplace=False):
    """x where above the threshold, value elsewhere."""
    return (_f.threshold_ if inplace else _f.threshold)(input, threshold, value)


def relu(input, inplace=False):
    """max(x, 0)."""
    return _f.relu_(input) if inplace else _f.relu(input)


def elu(input, alpha=1.0, inplace=False):
    """x where positive, alpha * (exp(x) - 1) elsewhere."""
    return _f.elu_(input, alpha) if inplace else _f.elu(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where positive, negative_slope * x elsewhere."""
    call = _f.leaky_relu_ if inplace else _f.leaky_relu
    return call(input, negative_slope)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x limited to [min_val, max_val]."""
    call = _f.hardtanh_ if inplace else _f.hardtanh
    return call(input, min_val, max_val)


def sigmoid(input):
    """1 / (1 + exp(-x))."""
    return _f.sigmoid(input)


def tanh(input):
    """The hyperbolic tangent."""
    return _f.tanh(input)


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) / sum(exp(x)) along a dimension."""
    return _f.softmax(input, _dimension(input, dim), dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log(softmax(x)) along a dimension."""
    return _f.log_softmax(input, _dimension(input, dim), dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(-x) along a dimension."""
    return _f.softmax(-input, _dimension(input, dim), dtype)


def _dimension(input, dim):
    if dim is not None:
        return dim
    import warnings

    _warnings.warn("Implicit dimension choice for softmax has been deprecated. Change the call to "
                  "include dim=X as an argument.", stacklevel=3)
    return 0 if input.dim() in (0, 1, 3) else 1


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Samples of classes as probabilities; hard ones are one-hot, with the gradient of the others.
    """
    if eps != 1e-10:
        _warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    return _f.gumbel_softmax(logits, tau, hard, dim)


def dropout(input, p=0.5, training=True, inplace=False):
    """Zeroes elements at random and scales the others."""
    _check_probability(p)
    result = _f.dropout(input, p, training)
    return input.copy_(result) if inplace else result


def _check_probability(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps the mean and variance of self-normalising networks."""
    _check_probability(p)
    result = _f.alpha_dropout(input, p, training)
    return input.copy_(result) if inplace else result


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels."""
    _check_probability(p)
    result = _f.feature_alpha_dropout(input, p, training)
    return input.copy_(result) if inplace else result


def _feature_dropout(input, p, training, inplace):
    _check_probability(p)
    result = _f.feature_dropout(input, p, training)
    return input.copy_(result) if inplace else result


def _warn_of_rank(name, rank, expected):
    if rank not in expected:
        _warnings.warn(f"{name}: Received a {rank}-D input to {name}, which is deprecated and will "
                       "result in an error in a future release. To retain the behavior and silence "
                       "this warning, please use dropout instead.", stacklevel=3)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of [n, c, length] or [c, length] at random, and scales the others."""
    if input.dim() not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D "
                           "input; use dropout for single elements")
    if input.dim() == 2:
        return _feature_dropout(input.unsqueeze(0), p, training, inplace).squeeze(0)
    return _feature_dropout(input, p, training, inplace)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of [n, c, height, width] at random, and scales the others."""
    _warn_of_rank("dropout2d", input.dim(), (3, 4))
    if input.dim() == 3:
        _warnings.warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise "
                       "1D dropout behavior is desired - input is interpreted as shape (N, C, L), "
                       "where C is the channel dim; use dropout1d instead.", stacklevel=2)
    return _feature_dropout(input, p, training, inplace)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of [n, c, depth, height, width] at random, and scales the others."""
    _warn_of_rank("dropout3d", input.dim(), (4, 5))
    if input.dim() != 5:
        return _feature_dropout(input.unsqueeze(0), p, training, inplace).squeeze(0)
    return _feature_dropout(input, p, training, inplace)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False,
               momentum=0.1, eps=1e-05):
    """Normalises each channel over the batch."""
    if training and eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    if training:
        values = 1
        for i, size in enumerate(input.shape):
            values *= 1 if i == 1 else size
        if values == 1:
            raise ValueError("Expected more than 1 value per channel when training, got input "
                             f"size {input.shape}")
    return _f.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None,
                  use_input_stats=True, momentum=0.1, eps=1e-05):
    """Normalises each channel of each sample; running statistics are updated in place."""
    if use_input_stats and _math.prod(input.shape[2:]) == 1:
        raise ValueError("Expected more than 1 spatial element when training, got input size "
                         f"{input.shape}")
    return _f.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats,
                            momentum, eps)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Divides by (k + alpha * mean of squares over the channels around)^beta."""
    return _f.local_response_norm(input, size, alpha, beta, k)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Normalises over the last dimensions."""
    return _f.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    """Normalises groups of channels."""
    if input.dim() < 2:
        raise RuntimeError("Expected at least 2 dimensions for input tensor but received "
                           f"{input.dim()}")
    if input.shape[0] * (input.shape[1] // max(num_groups, 1)) * _math.prod(input.shape[2:]) == 1:
        raise ValueError("Expected more than 1 value per channel when training, got input size "
                         f"{input.shape}")
    return _f.group_norm(input, num_groups, weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divides by the root of the mean square over the last dimensions."""
    return _f.rms_norm(input, normalized_shape, weight, eps)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Divides by the p-norm along a dimension."""
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / length if out is None else _f.div(input, length, out=out)


# ---- losses; the others are in _functional_losses

def _warn_of_sizes(input, target):
    """Sizes that differ broadcast, as in PyTorch, and that is seldom what was meant."""
    if target.size() != input.size():
        _warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.", stacklevel=3)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The mean of squared differences."""
    _warn_of_sizes(input, target)
    reduction = _reduction(reduction, size_average, reduce)
    if weight is None:
        return _f.mse_loss(input, target, reduction)
    return _weighted(_f.mse_loss(input, target, "none"), input, weight, reduction, weight.sum())


def _weighted(loss, input, weight, reduction, count=None):
    """The reduced loss; a mean is over `count`, or over the elements."""
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', "
                         "'sum'.")
    loss = loss * weight
    if reduction == "none":
        return loss
    if reduction == "mean" and count is None:
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss.sum() / count


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The mean of absolute differences."""
    _warn_of_sizes(input, target)
    reduction = _reduction(reduction, size_average, reduce)
    if weight is None:
        return _f.l1_loss(input, target, reduction)
    return _weighted(_f.l1_loss(input, target, "none"), input, weight, reduction, weight.sum())


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Squares below beta, absolute differences above."""
    _warn_of_sizes(input, target)
    return _f.smooth_l1_loss(input, target, _reduction(reduction, size_average, reduce), beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Squares below delta, absolute differences above, scaled by delta."""
    _warn_of_sizes(input, target)
    if weight is None:
        return _f.huber_loss(input, target, reduction, delta)
    return _weighted(_f.huber_loss(input, target, "none", delta), input, weight, reduction)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
             reduction="mean"):
    """The negative log likelihood of the targets."""
    return _f.nll_loss(input, target, weight, ignore_index,
                       _reduction(reduction, size_average, reduce))


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
                  reduction="mean", label_smoothing=0.0):
    """log_softmax over the classes, then nll_loss."""
    return _f.cross_entropy(input, target, weight, ignore_index,
                            _reduction(reduction, size_average, reduce), label_smoothing)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None,
                         reduction="mean"):
    """The loss of probabilities against targets between 0 and 1."""
    if target.size() != input.size():
        raise ValueError(f"Using a target size ({target.size()}) that is different to the input "
                         f"size ({input.size()}) is deprecated. Please ensure they have the same "
                         "size.")
    return _f.binary_cross_entropy(input, target, weight,
                                   _reduction(reduction, size_average, reduce))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None,
                                     reduction="mean", pos_weight=None):
    """binary_cross_entropy of sigmoid(input)."""
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size "
                         f"({input.size()})")
    return _f.binary_cross_entropy_with_logits(
        input, target, weight, _reduction(reduction, size_average, reduce), pos_weight)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """The divergence of a distribution from log probabilities."""
    reduction = _reduction(reduction, size_average, reduce)
    if reduction == "mean":
        _warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.", stacklevel=2)
    return _f.kl_div(input, target, reduction, log_target=log_target)

"""torch.nn.functional: the same functions with PyTorch's signatures."""

import math as _math
import warnings as _warnings

from foregrad import _C
from foregrad.nn._multihead import multi_head_attention_forward  # noqa: F401

_f = _C._functions

# Those whose schema is PyTorch's signature.
adaptive_avg_pool1d = _f.adaptive_avg_pool1d
avg_pool1d = _f.avg_pool1d
avg_pool2d = _f.avg_pool2d
conv1d = _f.conv1d
conv2d = _f.conv2d
conv3d = _f.conv3d
conv_transpose1d = _f.conv_transpose1d
conv_transpose2d = _f.conv_transpose2d
conv_transpose3d = _f.conv_transpose3d
gelu = _f.gelu
linear = _f.linear
logsigmoid = _f.log_sigmoid
one_hot = _f.one_hot
pad = _f.pad
scaled_dot_product_attention = _f.scaled_dot_product_attention
softplus = _f.softplus
relu_ = _f.relu_


def relu6(input, inplace=False):
    """x limited to [0, 6]."""
    return _f.hardtanh_(input, 0, 6) if inplace else _f.relu6(input)


def selu(input, inplace=False):
    """The scaled exponential linear unit."""
    if inplace:
        return _f.elu_(input, 1.6732632423543772, 1.0507009873554805)
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


def dropout(input, p=0.5, training=True, inplace=False):
    """Zeroes elements at random and scales the others."""
    _check_probability(p)
    result = _f.dropout(input, p, training)
    return input.copy_(result) if inplace else result


def _check_probability(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _feature_dropout(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels at random and scales the others."""
    _check_probability(p)
    result = _f.feature_dropout(input, p, training)
    return input.copy_(result) if inplace else result


dropout2d = dropout3d = _feature_dropout


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels at random and scales the others."""
    if input.dim() == 2:
        return _feature_dropout(input.unsqueeze(0), p, training, inplace).squeeze(0)
    return _feature_dropout(input, p, training, inplace)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False,
               momentum=0.1, eps=1e-05):
    """Normalises each channel over the batch."""
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
    """Normalises each channel of each sample, or by running statistics."""
    n, c = input.shape[:2]
    if use_input_stats and _math.prod(input.shape[2:]) == 1:
        raise ValueError("Expected more than 1 spatial element when training, got input size "
                         f"{input.size()}")
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when "
                           "use_input_stats=False")
    flat = input.reshape(1, n * c, *input.shape[2:])
    mean, var, weight, bias = (None if t is None else t.repeat(n)
                               for t in (running_mean, running_var, weight, bias))
    out = _f.batch_norm(flat, mean, var, weight, bias, use_input_stats, momentum, eps)
    if use_input_stats:  # the samples moved the statistics apart: their mean stays
        for kept, moved in ((running_mean, mean), (running_var, var)):
            if kept is not None:
                kept.copy_(moved.view(n, c).mean(0))
    return out.view(input.shape)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Normalises over the last dimensions."""
    return _f.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    """Normalises groups of channels."""
    return _f.group_norm(input, num_groups, weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divides by the root of the mean square over the last dimensions."""
    return _f.rms_norm(input, normalized_shape, weight, eps)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Divides by the p-norm along a dimension."""
    if out is not None:
        raise NotImplementedError("normalize: out= is not here yet; copy_ the result")
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0,
              scale_grad_by_freq=False, sparse=False):
    """The rows of weight that input names."""
    if max_norm is not None:
        raise NotImplementedError("embedding: max_norm is not here yet")
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.shape[0]
        assert -rows <= padding_idx < rows, "Padding_idx must be within num_embeddings"
        padding_idx %= rows
    return _f.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


# ---- pooling

def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    """The largest element of each window."""
    call = _f.max_pool1d_with_indices if return_indices else _f.max_pool1d
    return call(input, kernel_size, stride or [], padding, dilation, ceil_mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    """The largest element of each window."""
    call = _f.max_pool2d_with_indices if return_indices else _f.max_pool2d
    return call(input, kernel_size, stride or [], padding, dilation, ceil_mode)


def _output_size(input, output_size):
    """Sizes of an adaptive pooling; None keeps that of the input."""
    if not isinstance(output_size, (tuple, list)):
        return output_size
    if input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}, but is "
                         f"{input.dim()}")
    return [have if want is None else want
            for have, want in zip(input.shape[-len(output_size):], output_size)]


def adaptive_avg_pool2d(input, output_size):
    """The mean of windows that give the wanted sizes; a size may be None: as it is."""
    return _f.adaptive_avg_pool2d(input, _output_size(input, output_size))


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """The largest element of windows that give the wanted size."""
    values, indices = _f.adaptive_max_pool1d(input, output_size)
    return (values, indices) if return_indices else values


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """The largest element of windows that give the wanted sizes; a size may be None: as it is."""
    values, indices = _f.adaptive_max_pool2d(input, _output_size(input, output_size))
    return (values, indices) if return_indices else values


# ---- losses

def _reduction(reduction, size_average, reduce):
    """The name of a reduction, also from the two flags of old programs."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


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

"""The functions of nn.functional that read rows of tables."""

import warnings as _warnings

from foregrad import _C

_f = _C._functions

__all__ = ["embedding", "embedding_bag"]


def _row_of_padding(padding_idx, weight):
    if padding_idx is None:
        return -1
    rows = weight.shape[0]
    assert -rows <= padding_idx < rows, "Padding_idx must be within num_embeddings"
    return padding_idx % rows


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0,
              scale_grad_by_freq=False, sparse=False):
    """The rows of weight that input names; max_norm scales these rows of weight down first."""
    padding_idx = _row_of_padding(padding_idx, weight)
    if max_norm is not None:
        _f.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    return _f.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


_BAG_MODES = {"sum": 0, "mean": 1, "max": 2}


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2,
                  scale_grad_by_freq=False, mode="mean", sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=None):
    """The rows of weight that each bag of indices names: their sum, mean or maximum."""
    if weight.dtype == _C.int64 and input.is_floating_point():
        _warnings.warn("Argument order of nn.functional.embedding_bag was changed. Usage "
                       "`embedding_bag(weight, input, ...)` is deprecated, and should now be "
                       "`embedding_bag(input, weight, ...)`.", stacklevel=2)
        weight, input = input, weight
    _check_bags(input, weight, offsets, mode, scale_grad_by_freq, sparse, per_sample_weights)
    if input.dim() == 2:
        offsets = _f.arange(0, input.numel(), input.size(1), dtype=input.dtype)
        include_last_offset = False
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    rows = weight.shape[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError("padding_idx must be within the number of embeddings, "
                           f"-{rows} through {rows - 1}, but got {padding_idx}")
    padding_idx = _row_of_padding(padding_idx, weight)
    if max_norm is not None:
        _f.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    return _f.embedding_bag_rows(weight, input, offsets, scale_grad_by_freq, _BAG_MODES[mode],
                                 per_sample_weights, include_last_offset, padding_idx)


def _check_bags(input, weight, offsets, mode, scale_grad_by_freq, sparse, per_sample_weights):
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise ValueError(f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is "
                         "not None, then it must have the same shape as the input "
                         f"({input.shape})")
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension "
                         f"{weight.dim()}")
    if input.dim() not in (1, 2):
        raise ValueError("input has to be 1D or 2D Tensor, but got Tensor of dimension "
                         f"{input.dim()}")
    if input.dim() == 2 and offsets is not None:
        raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a "
                         f"mini-batch of fixed length sequences. However, found offsets of type "
                         f"{type(offsets)}")
    if input.dim() == 1 and (offsets is None or offsets.dim() != 1):
        raise ValueError("offsets has to be a 1D Tensor"
                         + (" but got None" if offsets is None else ""))
    if mode not in _BAG_MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if sparse:
        raise RuntimeError("embedding_bag: sparse gradients are not supported; use sparse=False")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError("embedding_bag: per_sample_weights was not None. "
                                  "per_sample_weights is only supported for mode='sum' "
                                  f"(got mode='{mode}').")

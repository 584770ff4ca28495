"""Attention of several heads as a function: masks, projections, heads, their mean."""

from __future__ import annotations

import math
import warnings
from collections import namedtuple

from foregrad import _C
from foregrad import _types as types

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor

__all__ = ["multi_head_attention_forward"]

_f = _C._functions


# Parameters of a call: `inward` projects query, key and value, or is a list of three matrices.
Weights = namedtuple("Weights", "inward inward_bias outward outward_bias bias_k bias_v")

# The settings of a call.
Call = namedtuple("Call", "heads batch_first add_zero_attn dropout need_weights average is_causal")


# ---- checks

def check(holds, message):
    """Raises an AssertionError, also where Python runs without assertions."""
    if not holds:
        raise AssertionError(message)


def _check_ranks(query, key, value, key_padding_mask, attn_mask, heads):
    """Whether the operands have a batch."""
    if query.dim() not in (2, 3):
        raise AssertionError("query should be unbatched 2D or batched 3D tensor but received "
                             f"{query.dim()}-D query tensor")
    rank = query.dim()
    kind = "batched (3-D)" if rank == 3 else "unbatched (2-D)"
    check(key.dim() == rank and value.dim() == rank,
          f"For {kind} `query`, expected `key` and `value` to be {rank}-D but found {key.dim()}-D "
          f"and {value.dim()}-D tensors respectively")
    if key_padding_mask is not None:
        check(key_padding_mask.dim() == rank - 1,
              f"For {kind} `query`, expected `key_padding_mask` to be `None` or {rank - 1}-D but "
              f"found {key_padding_mask.dim()}-D tensor instead")
    if attn_mask is not None:
        check(attn_mask.dim() in (2, 3),
              f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
              f"{attn_mask.dim()}-D tensor instead")
        if rank == 2 and attn_mask.dim() == 3:
            expected = (heads, query.shape[0], key.shape[0])
            check(tuple(attn_mask.shape) == expected,
                  f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return rank == 3


def canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """The mask that is added to scores; masks of bools are true at hidden places."""
    if mask is None:
        return None
    floating = mask.dtype.is_floating_point
    if mask.dtype != types.bool and not floating:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use "
                      "same type for both instead.", stacklevel=3)
    if floating:
        return mask
    return _f.zeros(mask.shape, dtype=target_type).masked_fill(mask, -math.inf)


def none_or_dtype(mask):
    """The dtype of a mask that may be missing."""
    return None if mask is None else mask.dtype


def _check_mask(mask, batch, heads, length, size):
    wanted = (length, size) if mask.dim() == 2 else (batch * heads, length, size)
    if tuple(mask.shape) != wanted:
        raise RuntimeError(f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should "
                           f"be {wanted}.")


# ---- the parts of a call

def _split(x, heads, batch_first):
    """Rows as (batch, heads, length, width)."""
    rows = x.view(x.shape[0], x.shape[1], heads, x.shape[2] // heads)
    return rows.transpose(1, 2) if batch_first else rows.permute(1, 2, 0, 3)


def _projected(query, key, value, weights, call):
    """Queries, keys and values of all heads; equal operands are projected together."""
    heads, first = call.heads, call.batch_first
    weight, bias = weights.inward, weights.inward_bias
    if isinstance(weight, _C.Tensor):
        size = weight.shape[0] // 3
        if query is key and key is value:
            parts = _f.linear(query, weight, bias).chunk(3, -1)
            return [_split(part, heads, first) for part in parts]
        if key is value:
            sizes = [size, 2 * size]
            of_q, of_kv = weight.split(sizes)
            bias_q, bias_kv = (None, None) if bias is None else bias.split(sizes)
            parts = [_f.linear(query, of_q, bias_q),
                     *_f.linear(key, of_kv, bias_kv).chunk(2, -1)]
            return [_split(part, heads, first) for part in parts]
        weight = weight.chunk(3)
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return [_split(_f.linear(x, w, b), heads, first)
            for x, w, b in zip((query, key, value), weight, biases)]


def _with_more(x, more):
    """Keys or values with one more, the same in each batch."""
    batch, heads, _, width = x.shape
    return _f.cat([x, more.reshape(1, heads, 1, width).expand(batch, heads, 1, width)], 2)


def _padded(mask, count):
    return mask if mask is None or count == 0 else _f.pad(mask, (0, count))


def _joined_mask(attn_mask, key_padding_mask, batch, heads):
    """One mask that broadcasts to (batch, heads, length, size)."""
    if attn_mask is not None:
        rows = attn_mask.shape[-2:]
        attn_mask = attn_mask if attn_mask.dim() == 2 else attn_mask.reshape(batch, heads, *rows)
    if key_padding_mask is None:
        return attn_mask
    padding = key_padding_mask.view(batch, 1, 1, key_padding_mask.shape[-1])
    return padding if attn_mask is None else attn_mask + padding


def _attend(query, key, value, mask, call):
    """The mixed values of all heads, and the weights if they are wanted."""
    if not call.need_weights:
        causal = call.is_causal and mask is None
        return _f.scaled_dot_product_attention(query, key, value, mask, call.dropout, causal), None
    scores = (query * math.sqrt(1.0 / query.shape[-1])) @ key.transpose(-2, -1)
    weights = (scores if mask is None else scores + mask).softmax(-1)
    if call.dropout > 0:
        weights = _f.dropout(weights, call.dropout, True)
    return weights @ value, weights


def attention(inputs, weights, call, key_padding_mask=None, attn_mask=None, static=(None, None)):
    """The attention of batched inputs, with additive masks: output and weights."""
    query, key, value = _projected(*inputs, weights, call)
    batch, heads, length, width = query.shape
    key, value = (x if given is None else given.view(batch, heads, *given.shape[1:])
                  for x, given in zip((key, value), static))
    if attn_mask is not None:
        _check_mask(attn_mask, batch, heads, length, key.shape[2])
    more = 0
    if weights.bias_k is not None:
        key, value = _with_more(key, weights.bias_k), _with_more(value, weights.bias_v)
        more += 1
    if call.add_zero_attn:
        zeros = _f.zeros((heads * width,), dtype=key.dtype)
        key, value = _with_more(key, zeros), _with_more(value, zeros)
        more += 1
    if key_padding_mask is not None:
        check(tuple(key_padding_mask.shape) == (batch, key.shape[2] - more),
              f"expecting key_padding_mask shape of {(batch, key.shape[2] - more)}, but got "
              f"{key_padding_mask.shape}")
    mask = _joined_mask(_padded(attn_mask, more), _padded(key_padding_mask, more), batch, heads)
    mixed, shares = _attend(query, key, value, mask, call)
    rows = mixed.transpose(1, 2) if call.batch_first else mixed.permute(2, 0, 1, 3)
    out = _f.linear(rows.reshape(*rows.shape[:2], heads * width), weights.outward,
                    weights.outward_bias)
    if shares is not None and call.average:
        shares = shares.mean(1)
    return out, shares


def _masks_of(query, key_padding_mask, attn_mask, weights, call):
    """The additive masks of a call, which leaves a causal one to the kernel where it can."""
    padding = canonical_mask(key_padding_mask, "key_padding_mask", none_or_dtype(attn_mask),
                             "attn_mask", query.dtype)
    if call.is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask.")
    more_keys = call.add_zero_attn or weights.bias_k is not None
    if call.is_causal and padding is None and not call.need_weights and not more_keys:
        return None, None, call
    added = canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
    return padding, added, call._replace(is_causal=False)


def batched_attention(inputs, weights, call, key_padding_mask, attn_mask, static=(None, None)):
    """The attention of inputs with a batch or without."""
    query, key, value = inputs
    batched = _check_ranks(query, key, value, key_padding_mask, attn_mask, call.heads)
    padding, added, call = _masks_of(query, key_padding_mask, attn_mask, weights, call)
    place = 0 if call.batch_first else 1
    if not batched:
        # Operands that are one tensor stay one: they are projected together.
        one, pair = query is key, key is value
        query = query.unsqueeze(place)
        key = query if one else key.unsqueeze(place)
        value = key if pair else value.unsqueeze(place)
        padding = None if padding is None else padding.unsqueeze(0)
    check(key.shape[:2] == value.shape[:2],
          f"key shape {key.shape} does not match value shape {value.shape}")
    out, shares = attention((query, key, value), weights, call, padding, added, static)
    if batched:
        return out, shares
    return out.squeeze(place), None if shares is None else shares.squeeze(0)


def _separate(query, key, value, size, projections):
    """The three matrices of a call that gives them one by one."""
    for name, x, weight in zip("qkv", (query, key, value), projections):
        check(weight is not None,
              f"use_separate_proj_weight is True but {name}_proj_weight is None")
        check(tuple(weight.shape) == (size, x.shape[-1]),
              f"expecting {name}_proj_weight shape of {(size, x.shape[-1])}, but got "
              f"{weight.shape}")
    return list(projections)


def _check_static(static, batch, heads, width):
    for name, given in zip(("static_k", "static_v"), static):
        if given is None:
            continue
        check(given.shape[0] == batch * heads,
              f"expecting {name}.size(0) of {batch * heads}, but got {given.shape[0]}")
        check(given.shape[2] == width,
              f"expecting {name}.size(2) of {width}, but got {given.shape[2]}")


def multi_head_attention_forward(
        query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
        in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None,
        bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
        out_proj_bias: Tensor | None, training: bool = True,
        key_padding_mask: Tensor | None = None, need_weights: bool = True,
        attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False,
        q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
        v_proj_weight: Tensor | None = None, static_k: Tensor | None = None,
        static_v: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads: output and weights.

    query is (L, N, E), or (L, E); key and value are (S, N, E), or (S, E). Masks of bools are true
    at hidden places, others are added to the scores.
    """
    size = query.shape[-1]
    check(size == embed_dim_to_check,
          f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}")
    check(size % num_heads == 0, f"embed_dim {size} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        inward = _separate(query, key, value, size, (q_proj_weight, k_proj_weight, v_proj_weight))
    else:
        check(key.shape == value.shape,
              f"key shape {key.shape} does not match value shape {value.shape}")
        check(in_proj_weight is not None,
              "use_separate_proj_weight is False but in_proj_weight is None")
        inward = in_proj_weight
    check((bias_k is None) == (bias_v is None), "bias_k and bias_v come together or not at all")
    check(bias_k is None or static_k is None, "bias cannot be added to static key.")
    check(bias_v is None or static_v is None, "bias cannot be added to static value.")
    batch = query.shape[1] if query.dim() == 3 else 1
    _check_static((static_k, static_v), batch, num_heads, size // num_heads)
    weights = Weights(inward, in_proj_bias, out_proj_weight, out_proj_bias, bias_k, bias_v)
    call = Call(num_heads, False, add_zero_attn, dropout_p if training else 0.0, need_weights,
                average_attn_weights, is_causal)
    return batched_attention((query, key, value), weights, call, key_padding_mask, attn_mask,
                             (static_k, static_v))

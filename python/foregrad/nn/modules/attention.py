"""MultiheadAttention."""

from __future__ import annotations

import math

from foregrad import _C
from foregrad.nn import functional as F
from foregrad.nn import init
from foregrad.nn.modules.linear import Linear, made_parameter
from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from foregrad.nn.parameter import Parameter

    _Device = str | _device | None

__all__ = ["MultiheadAttention"]


class NonDynamicallyQuantizableLinear(Linear):
    """Linear under the name that PyTorch prints here."""


class MultiheadAttention(Module):
    """Attention of several heads; projections before and after."""

    embed_dim: int
    num_heads: int
    head_dim: int
    kdim: int
    vdim: int
    dropout: float
    batch_first: bool
    in_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    out_proj: Linear

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
                 add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
                 vdim: int | None = None, batch_first: bool = False, device: _Device = None,
                 dtype: _dtype | None = None) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError("embed_dim and num_heads must be greater than 0, got "
                             f"embed_dim={embed_dim} and num_heads={num_heads} instead")
        if add_bias_kv or add_zero_attn:
            raise NotImplementedError("MultiheadAttention: add_bias_kv and add_zero_attn are not "
                                      "here yet")
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.dropout, self.batch_first = dropout, batch_first
        self.head_dim = embed_dim // num_heads
        self.add_zero_attn, self.bias_k, self.bias_v = False, None, None
        self._qkv_same_embed_dim = self.kdim == embed_dim == self.vdim
        self._make_parameters(bias, device, dtype)
        self._reset_parameters()

    def _make_parameters(self, bias, device, dtype):
        size, same = self.embed_dim, self._qkv_same_embed_dim
        for name, inputs in (("q", size), ("k", self.kdim), ("v", self.vdim)):
            made = None if same else made_parameter((size, inputs), device, dtype)
            self.register_parameter(f"{name}_proj_weight", made)
        self.register_parameter("in_proj_weight", made_parameter((3 * size, size), device, dtype)
                                if same else None)
        self.register_parameter("in_proj_bias", made_parameter((3 * size,), device, dtype)
                                if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(size, size, bias, device, dtype)

    def _weights(self):
        if self._qkv_same_embed_dim:
            return self.in_proj_weight.chunk(3)
        return self.q_proj_weight, self.k_proj_weight, self.v_proj_weight

    def _reset_parameters(self):
        weights = (self.in_proj_weight,) if self._qkv_same_embed_dim else self._weights()
        for weight in weights:
            init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)

    def forward(self, query: Tensor, key: Tensor, value: Tensor,
                key_padding_mask: Tensor | None = None, need_weights: bool = True,
                attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        batched = query.dim() == 3
        inputs = [x if batched else x.unsqueeze(1) for x in (query, key, value)]
        if self.batch_first and batched:
            inputs = [x.transpose(0, 1) for x in inputs]
        if key_padding_mask is not None and not batched:
            key_padding_mask = key_padding_mask.unsqueeze(0)
        heads = self._projected(inputs)
        mask = self._mask(heads, key_padding_mask, attn_mask)
        mixed, weights = self._attend(heads, mask, need_weights)
        n, _, length, _ = mixed.shape
        out = self.out_proj(mixed.permute(2, 0, 1, 3).reshape(length, n, self.embed_dim))
        if weights is not None and average_attn_weights:
            weights = weights.mean(dim=1)
        if not batched:
            return out.squeeze(1), None if weights is None else weights.squeeze(0)
        return out.transpose(0, 1) if self.batch_first else out, weights

    def _projected(self, inputs):
        """Queries, keys and values as (N, heads, length, head_dim)."""
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        return [F.linear(x, weight, bias).view(
                    x.shape[0], x.shape[1], self.num_heads, self.head_dim).permute(1, 2, 0, 3)
                for x, weight, bias in zip(inputs, self._weights(), biases)]

    def _mask(self, heads, key_padding_mask, attn_mask):
        """The mask that is added to the scores; masks of bools are true at hidden places."""
        (n, count, length, _), size = heads[0].shape, heads[1].shape[2]
        made = None
        if attn_mask is not None:
            many = attn_mask.dim() == 3
            made = _as_added(attn_mask.view(n, count, length, size) if many else attn_mask,
                             heads[0])
        if key_padding_mask is not None:
            padding = _as_added(key_padding_mask, heads[0]).view(n, 1, 1, size)
            made = padding if made is None else made + padding
        return made

    def _attend(self, heads, mask, need_weights):
        query, key, value = heads
        rate = self.dropout if self.training else 0.0
        if not need_weights:
            return F.scaled_dot_product_attention(query, key, value, mask, rate), None
        scores = (query * math.sqrt(1.0 / self.head_dim)) @ key.transpose(-2, -1)
        weights = F.softmax(scores if mask is None else scores + mask, dim=-1)
        weights = F.dropout(weights, rate) if rate > 0 else weights
        return weights @ value, weights


def _as_added(mask, like):
    if mask.dtype.is_floating_point:
        return mask
    if str(mask.dtype) != "foregrad.bool":
        raise RuntimeError("only bool and floating types of mask are supported")
    return _C._functions.zeros(mask.shape, dtype=like.dtype).masked_fill(mask, -math.inf)

"""MultiheadAttention."""

from __future__ import annotations

from foregrad.nn import init
from foregrad.nn._multihead import Call, Weights, batched_attention, check
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
        check(embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.dropout, self.batch_first = dropout, batch_first
        self.head_dim = embed_dim // num_heads
        self.add_zero_attn = add_zero_attn
        self._qkv_same_embed_dim = self.kdim == embed_dim == self.vdim
        self._make_parameters(bias, add_bias_kv, device, dtype)
        self._reset_parameters()

    def _make_parameters(self, bias, add_bias_kv, device, dtype):
        size, same = self.embed_dim, self._qkv_same_embed_dim
        if same:
            self.in_proj_weight = made_parameter((3 * size, size), device, dtype)
        for name, inputs in (("q", size), ("k", self.kdim), ("v", self.vdim)):
            made = None if same else made_parameter((size, inputs), device, dtype)
            self.register_parameter(f"{name}_proj_weight", made)
        if not same:
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", made_parameter((3 * size,), device, dtype)
                                if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(size, size, bias, device, dtype)
        if add_bias_kv:
            self.bias_k = made_parameter((1, 1, size), device, dtype)
            self.bias_v = made_parameter((1, 1, size), device, dtype)
        else:
            self.bias_k = self.bias_v = None

    def _inward(self):
        """The matrix that projects query, key and value, or three of them."""
        if self._qkv_same_embed_dim:
            return self.in_proj_weight
        return [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]

    def _reset_parameters(self):
        weights = self._inward()
        for weight in [weights] if self._qkv_same_embed_dim else weights:
            init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(self, query: Tensor, key: Tensor, value: Tensor,
                key_padding_mask: Tensor | None = None, need_weights: bool = True,
                attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
        self._check(query, key, value)
        weights = Weights(self._inward(), self.in_proj_bias, self.out_proj.weight,
                          self.out_proj.bias, self.bias_k, self.bias_v)
        call = Call(self.num_heads, self.batch_first, self.add_zero_attn,
                    self.dropout if self.training else 0.0, need_weights, average_attn_weights,
                    is_causal)
        return batched_attention((query, key, value), weights, call, key_padding_mask, attn_mask)

    def _check(self, query, key, value):
        size = query.shape[-1]
        check(size == self.embed_dim,
              f"was expecting embedding dimension of {self.embed_dim}, but got {size}")
        if self._qkv_same_embed_dim and query.dim() == key.dim() == value.dim():
            check(key.shape == value.shape,
                  f"key shape {key.shape} does not match value shape {value.shape}")

    def merge_masks(self, attn_mask: Tensor | None, key_padding_mask: Tensor | None,
                    query: Tensor) -> tuple[Tensor | None, int | None]:
        """The masks of a call as one, and its kind: 0 attn_mask, 1 padding, 2 both; None: none."""
        merged, kind = key_padding_mask, None if key_padding_mask is None else 1
        if attn_mask is None:
            return merged, kind
        batch, length = query.shape[:2]
        rows = (attn_mask.view(batch, -1, length, length) if attn_mask.dim() == 3 else
                attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1))
        if key_padding_mask is not None:
            rows = rows + key_padding_mask.view(batch, 1, 1, length)
        return rows, 2

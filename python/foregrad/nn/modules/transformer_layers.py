"""Layers of transformers: attention and a network of two matrices, each around a sum and a norm."""

from __future__ import annotations

from foregrad.nn import functional as F
from foregrad.nn._multihead import canonical_mask, none_or_dtype
from foregrad.nn.modules.attention import MultiheadAttention
from foregrad.nn.modules.dropout import Dropout
from foregrad.nn.modules.linear import Linear
from foregrad.nn.modules.module import Module
from foregrad.nn.modules.normalization import LayerNorm

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable

    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype

    _Device = str | _device | None
    _Activation = str | Callable[[Tensor], Tensor]

__all__ = ["TransformerDecoderLayer", "TransformerEncoderLayer"]


def activation_of(activation):
    """The function of a name; a function is itself."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return F.relu if activation == "relu" else F.gelu


class TransformerEncoderLayer(Module):
    """Self-attention and a network of two matrices; norm_first: norms before instead of after."""

    norm_first: bool

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048,
                 dropout: float = 0.1, activation: _Activation = F.relu,
                 layer_norm_eps: float = 1e-05, batch_first: bool = False,
                 norm_first: bool = False, bias: bool = True, device: _Device = None,
                 dtype: _dtype | None = None) -> None:
        super().__init__()
        more = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout,
                                            batch_first=batch_first, **more)
        self.linear1 = Linear(d_model, dim_feedforward, **more)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **more)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, **more)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, **more)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = activation_of(activation)

    def forward(self, src: Tensor, src_mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None, is_causal: bool = False) -> Tensor:
        padding = canonical_mask(src_key_padding_mask, "src_key_padding_mask",
                                 none_or_dtype(src_mask), "src_mask", src.dtype)
        mask = canonical_mask(src_mask, "src_mask", None, "", src.dtype, check_other=False)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), mask, padding, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, mask, padding, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        out, _ = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask,
                                need_weights=False, is_causal=is_causal)
        return self.dropout1(out)

    def _ff_block(self, x):
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    """Self-attention, attention to the memory, and a network of two matrices."""

    norm_first: bool

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048,
                 dropout: float = 0.1, activation: _Activation = F.relu,
                 layer_norm_eps: float = 1e-05, batch_first: bool = False,
                 norm_first: bool = False, bias: bool = True, device: _Device = None,
                 dtype: _dtype | None = None) -> None:
        super().__init__()
        more = {"bias": bias, "device": device, "dtype": dtype}
        attention = {"dropout": dropout, "batch_first": batch_first, **more}
        self.self_attn = MultiheadAttention(d_model, nhead, **attention)
        self.multihead_attn = MultiheadAttention(d_model, nhead, **attention)
        self.linear1 = Linear(d_model, dim_feedforward, **more)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **more)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, **more)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, **more)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, **more)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = activation_of(activation)

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
                memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool = False,
                memory_is_causal: bool = False) -> Tensor:
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), memory, *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, memory, *other))
        return self.norm3(x + self._ff_block(x))

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        out, _ = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask,
                                need_weights=False, is_causal=is_causal)
        return self.dropout1(out)

    def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
        out, _ = self.multihead_attn(x, mem, mem, attn_mask=attn_mask,
                                     key_padding_mask=key_padding_mask, need_weights=False,
                                     is_causal=is_causal)
        return self.dropout2(out)

    def _ff_block(self, x):
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))

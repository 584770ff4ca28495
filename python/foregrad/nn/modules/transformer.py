"""Transformer: encoder and decoder, their layers, and the model of both."""

from __future__ import annotations

import copy
import math

from foregrad import _C
from foregrad.nn import functional as F
from foregrad.nn import init
from foregrad.nn._multihead import canonical_mask, none_or_dtype
from foregrad.nn.modules.container import ModuleList
from foregrad.nn.modules.module import Module
from foregrad.nn.modules.normalization import LayerNorm
from foregrad.nn.modules.transformer_layers import (
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype

    _Device = str | _device | None
    _Activation = str | Callable[[Tensor], Tensor]

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
           "TransformerEncoderLayer"]

_f = _C._functions


def _causal_mask(size, dtype=None):
    """Zeros on and below the diagonal, -inf above."""
    return _f.full((size, size), -math.inf, dtype=dtype).triu(1)


def _is_causal(mask, hint, size):
    """The hint, or whether the elements of the mask are those of a causal one.

    While a function is captured, elements are not known: a mask stays a mask.
    """
    if hint is not None or mask is None:
        return bool(hint)
    if tuple(mask.shape) != (size, size) or _C.is_capturing():
        return False
    return mask.equal(_causal_mask(size, mask.dtype))


def _copies(module, count):
    if not isinstance(module, Module):
        raise TypeError(f"the layer is of the type {type(module).__name__}; expected a Module, "
                        "which is copied for every layer")
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


class TransformerEncoder(Module):
    """Encoder layers, one after the other, and a norm.

    enable_nested_tensor and mask_check are kept as attributes: results do not depend on them here.
    """

    num_layers: int
    norm: Module | None
    enable_nested_tensor: bool
    mask_check: bool

    def __init__(self, encoder_layer: TransformerEncoderLayer, num_layers: int,
                 norm: Module | None = None, enable_nested_tensor: bool = True,
                 mask_check: bool = True) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.use_nested_tensor = enable_nested_tensor, False
        self.mask_check = mask_check

    def forward(self, src: Tensor, mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None,
                is_causal: bool | None = None) -> Tensor:
        padding = canonical_mask(src_key_padding_mask, "src_key_padding_mask",
                                 none_or_dtype(mask), "mask", src.dtype)
        mask = canonical_mask(mask, "mask", None, "", src.dtype, check_other=False)
        causal = _is_causal(mask, is_causal, _length(src, self.layers))
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        return src if self.norm is None else self.norm(src)


def _length(x, layers):
    """The length of sequences; layers say where the batch is."""
    first = layers[0].self_attn.batch_first if len(layers) else False
    return x.shape[1 if x.dim() == 3 and first else 0]


class TransformerDecoder(Module):
    """Decoder layers, one after the other, and a norm."""

    num_layers: int
    norm: Module | None

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int,
                 norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
                memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool | None = None,
                memory_is_causal: bool = False) -> Tensor:
        causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, self.layers))
        out = tgt
        for layer in self.layers:
            out = layer(out, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                        tgt_key_padding_mask=tgt_key_padding_mask,
                        memory_key_padding_mask=memory_key_padding_mask,
                        tgt_is_causal=causal, memory_is_causal=memory_is_causal)
        return out if self.norm is None else self.norm(out)


class Transformer(Module):
    """An encoder of the source and a decoder of the target."""

    d_model: int
    nhead: int
    batch_first: bool

    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
                 num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: _Activation = F.relu, custom_encoder: Any | None = None,
                 custom_decoder: Any | None = None, layer_norm_eps: float = 1e-05,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True,
                 device: _Device = None, dtype: _dtype | None = None) -> None:
        super().__init__()
        settings = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
                    batch_first, norm_first, bias, device, dtype)

        def norm():
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)

        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*settings), num_encoder_layers, norm())
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*settings), num_decoder_layers, norm())
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self):
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: _Device = None,
                                        dtype: _dtype | None = None) -> Tensor:
        """The mask of a sequence whose places see themselves and earlier ones: -inf elsewhere."""
        return _causal_mask(sz, dtype)

    def _check(self, src, tgt):
        batched = src.dim() == 3
        place = 0 if self.batch_first else 1
        if batched and src.size(place) != tgt.size(place):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None,
                tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None,
                memory_key_padding_mask: Tensor | None = None,
                src_is_causal: bool | None = None, tgt_is_causal: bool | None = None,
                memory_is_causal: bool = False) -> Tensor:
        self._check(src, tgt)
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask,
                              is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                            tgt_key_padding_mask=tgt_key_padding_mask,
                            memory_key_padding_mask=memory_key_padding_mask,
                            tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal)

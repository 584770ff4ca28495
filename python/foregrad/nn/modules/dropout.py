"""Dropout and its forms for whole channels."""

from __future__ import annotations

from foregrad.nn import functional as F
from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d"]


class _Dropout(Module):
    p: float
    inplace: bool

    _function = None

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        return type(self)._function(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Zeroes elements at random in training and scales the others."""

    _function = staticmethod(F.dropout)


class Dropout1d(_Dropout):
    """Zeroes whole channels of (N, C, L) at random in training and scales the others."""

    _function = staticmethod(F.dropout1d)


class Dropout2d(_Dropout):
    """Zeroes whole channels of (N, C, H, W) at random in training and scales the others."""

    _function = staticmethod(F.dropout2d)


class Dropout3d(_Dropout):
    """Zeroes whole channels of (N, C, D, H, W) at random in training and scales the others."""

    _function = staticmethod(F.dropout3d)

"""Padding: constant, circular, reflected and replicated borders."""

from __future__ import annotations

from foregrad.nn import functional as F
from foregrad.nn.modules.module import Module
from foregrad.nn.modules.utils import _ntuple

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from foregrad import Tensor

    _Sizes = int | Sequence[int]

__all__ = ["CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d",
           "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d",
           "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d",
           "ZeroPad3d"]


class _PadNd(Module):
    """A border of the last `_rank` dimensions; the padding begins with the last one."""

    padding: tuple[int, ...]

    _rank = 0
    _mode = "constant"

    def __init__(self, padding: _Sizes) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self._rank)(padding)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self):
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    padding: tuple[int, ...]
    value: float

    def __init__(self, padding: _Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """A border of one value around (N, C, L)."""

    _rank = 1


class ConstantPad2d(_ConstantPadNd):
    """A border of one value around (N, C, H, W)."""

    _rank = 2


class ConstantPad3d(_ConstantPadNd):
    """A border of one value around (N, C, D, H, W)."""

    _rank = 3


class ZeroPad1d(ConstantPad1d):
    """A border of zeros around (N, C, L)."""

    def __init__(self, padding: _Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """A border of zeros around (N, C, H, W)."""

    def __init__(self, padding: _Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """A border of zeros around (N, C, D, H, W)."""

    def __init__(self, padding: _Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    _mode = "circular"

    def _check_input_dim(self, input):
        if input.dim() not in (self._rank + 1, self._rank + 2):
            raise ValueError(f"expected {self._rank + 1}D or {self._rank + 2}D input (got "
                             f"{input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """A border of (N, C, L) that goes on from the other end."""

    _rank = 1


class CircularPad2d(_CircularPadNd):
    """A border of (N, C, H, W) that goes on from the other end."""

    _rank = 2


class CircularPad3d(_CircularPadNd):
    """A border of (N, C, D, H, W) that goes on from the other end."""

    _rank = 3


class _ReflectionPadNd(_PadNd):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """A border that mirrors (N, C, L) at its ends."""

    _rank = 1


class ReflectionPad2d(_ReflectionPadNd):
    """A border that mirrors (N, C, H, W) at its ends."""

    _rank = 2


class ReflectionPad3d(_ReflectionPadNd):
    """A border that mirrors (N, C, D, H, W) at its ends."""

    _rank = 3


class _ReplicationPadNd(_PadNd):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """A border that repeats the ends of (N, C, L)."""

    _rank = 1


class ReplicationPad2d(_ReplicationPadNd):
    """A border that repeats the ends of (N, C, H, W)."""

    _rank = 2


class ReplicationPad3d(_ReplicationPadNd):
    """A border that repeats the ends of (N, C, D, H, W)."""

    _rank = 3

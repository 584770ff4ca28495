"""Pooling with windows at random places, by p-norms, and the inverse of max pooling."""

from __future__ import annotations

from foregrad.nn import functional as F
from foregrad.nn.modules.module import Module
from foregrad.nn.modules.utils import _ntuple

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from typing import Any

    _Sizes = int | tuple[int, ...]
    _Ratios = float | tuple[float, ...]

__all__ = ["FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d",
           "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]


class _FractionalMaxPoolNd(Module):
    kernel_size: tuple[int, ...]
    output_size: tuple[int, ...] | None
    output_ratio: tuple[float, ...] | None
    return_indices: bool

    _rank = 0

    def __init__(self, kernel_size: _Sizes, output_size: _Sizes | None = None,
                 output_ratio: _Ratios | None = None, return_indices: bool = False,
                 _random_samples: Tensor | None = None) -> None:
        super().__init__()
        several = _ntuple(self._rank)
        if isinstance(kernel_size, int) and kernel_size <= 0 or isinstance(
                kernel_size, tuple) and any(size <= 0 for size in kernel_size):
            raise ValueError(f"kernel_size must greater than zero, but got {kernel_size}")
        self.kernel_size, self.return_indices = several(kernel_size), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else several(output_size)
        self.output_ratio = None if output_ratio is None else several(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or "
                             "a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def _pooled(self, function, input):
        return function(input, self.kernel_size, self.output_size, self.output_ratio,
                        self.return_indices, _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest element of windows of (N, C, H, W) at random places."""

    _rank = 2

    def forward(self, input: Tensor) -> Any:
        return self._pooled(F.fractional_max_pool2d, input)


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest element of windows of (N, C, D, H, W) at random places."""

    _rank = 3

    def forward(self, input: Tensor) -> Any:
        return self._pooled(F.fractional_max_pool3d, input)


class _LPPoolNd(Module):
    norm_type: float
    kernel_size: _Sizes
    stride: _Sizes | None
    ceil_mode: bool

    def __init__(self, norm_type: float, kernel_size: _Sizes, stride: _Sizes | None = None,
                 ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def extra_repr(self):
        return (f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}, ceil_mode={self.ceil_mode}")


class LPPool1d(_LPPoolNd):
    """The p-norm of each window of (N, C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride,
                           self.ceil_mode)


class LPPool2d(_LPPoolNd):
    """The p-norm of each window of (N, C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride,
                           self.ceil_mode)


class LPPool3d(_LPPoolNd):
    """The p-norm of each window of (N, C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride,
                           self.ceil_mode)


class _MaxUnpoolNd(Module):
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]

    _rank = 0

    def __init__(self, kernel_size: _Sizes, stride: _Sizes | None = None,
                 padding: _Sizes = 0) -> None:
        super().__init__()
        several = _ntuple(self._rank)
        self.kernel_size = several(kernel_size)
        self.stride = several(stride if stride is not None else kernel_size)
        self.padding = several(padding)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts the results of MaxPool1d at the places that it returned; zeros elsewhere."""

    _rank = 1

    def forward(self, input: Tensor, indices: Tensor,
                output_size: list[int] | None = None) -> Tensor:
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding,
                              output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts the results of MaxPool2d at the places that it returned; zeros elsewhere."""

    _rank = 2

    def forward(self, input: Tensor, indices: Tensor,
                output_size: list[int] | None = None) -> Tensor:
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding,
                              output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts the results of MaxPool3d at the places that it returned; zeros elsewhere."""

    _rank = 3

    def forward(self, input: Tensor, indices: Tensor,
                output_size: list[int] | None = None) -> Tensor:
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding,
                              output_size)

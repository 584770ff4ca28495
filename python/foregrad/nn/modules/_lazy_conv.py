"""Convolutions that take in_channels from their first input."""

from __future__ import annotations

from foregrad.nn.modules.conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from foregrad.nn.modules.lazy import LazyModuleMixin
from foregrad.nn.parameter import UninitializedParameter

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from typing import Any

    _Device = str | _device | None
    _Sizes = int | Sequence[int]

__all__ = ["LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d",
           "LazyConvTranspose3d"]


class _LazyConvXdMixin(LazyModuleMixin):
    def _make_lazy(self, out_channels, bias, device, dtype):
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draws weight and bias anew, if they have sizes."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def _get_num_spatial_dims(self):
        return self._rank

    def _get_in_channels(self, input):
        rank = self._get_num_spatial_dims()
        if input.dim() not in (rank + 1, rank + 2):
            raise RuntimeError(f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input "
                               f"to {type(self).__name__}, but got input of size: {input.shape}")
        return input.shape[1] if input.dim() == rank + 2 else input.shape[0]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Gives weight and bias their sizes and draws them."""
        if not self.has_uninitialized_params():
            self.in_channels = self.in_channels or self._get_in_channels(input)  # a loaded state
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        outer = ((self.in_channels, self.out_channels // self.groups) if self.transposed
                 else (self.out_channels, self.in_channels // self.groups))
        self.weight.materialize((*outer, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyForward(_LazyConvXdMixin):
    def __init__(self, out_channels: int, kernel_size: _Sizes, stride: _Sizes = 1,
                 padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: int = 1,
                 bias: bool = True, padding_mode: str = "zeros", device: _Device = None,
                 dtype: _dtype | None = None) -> None:
        # A bias comes later: one of no sizes would be drawn now.
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False,
                         padding_mode, device, dtype)
        self._make_lazy(out_channels, bias, device, dtype)


class LazyConv1d(_LazyForward, Conv1d):
    """A Conv1d that takes in_channels from its first input."""

    cls_to_become: Any = Conv1d


class LazyConv2d(_LazyForward, Conv2d):
    """A Conv2d that takes in_channels from its first input."""

    cls_to_become: Any = Conv2d


class LazyConv3d(_LazyForward, Conv3d):
    """A Conv3d that takes in_channels from its first input."""

    cls_to_become: Any = Conv3d


class _LazyTransposed(_LazyConvXdMixin):
    def __init__(self, out_channels: int, kernel_size: _Sizes, stride: _Sizes = 1,
                 padding: _Sizes = 0, output_padding: _Sizes = 0, groups: int = 1,
                 bias: bool = True, dilation: _Sizes = 1, padding_mode: str = "zeros",
                 device: _Device = None, dtype: _dtype | None = None) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False,
                         dilation, padding_mode, device, dtype)
        self._make_lazy(out_channels, bias, device, dtype)


class LazyConvTranspose1d(_LazyTransposed, ConvTranspose1d):
    """A ConvTranspose1d that takes in_channels from its first input."""

    cls_to_become: Any = ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, ConvTranspose2d):
    """A ConvTranspose2d that takes in_channels from its first input."""

    cls_to_become: Any = ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, ConvTranspose3d):
    """A ConvTranspose3d that takes in_channels from its first input."""

    cls_to_become: Any = ConvTranspose3d

"""Convolutions."""

from __future__ import annotations

import math

from foregrad.nn import functional as F
from foregrad.nn import init
from foregrad.nn.modules.linear import made_parameter
from foregrad.nn.modules.module import Module
from foregrad.nn.modules.utils import _reverse_repeat_tuple

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from foregrad.nn.parameter import Parameter

    _Device = str | _device | None
    _Sizes = int | Sequence[int]

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """The base of all convolutions; `_rank` is the number of spatial dimensions."""

    _rank = 0
    _transposed = False
    _function = None

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation,
                 output_padding, groups, bias, padding_mode, device, dtype):
        super().__init__()
        _check(in_channels, out_channels, groups, padding_mode)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = self._sizes(kernel_size), self._sizes(stride)
        self.padding = padding if isinstance(padding, str) else self._sizes(padding)
        self.dilation, self.output_padding = self._sizes(dilation), self._sizes(output_padding)
        self.transposed, self.groups = self._transposed, groups
        self.padding_mode = padding_mode
        self._check_padding()
        self._reversed_padding_repeated_twice = self._border()
        channels = ((in_channels, out_channels // groups) if self._transposed
                    else (out_channels, in_channels // groups))
        self.weight = made_parameter((*channels, *self.kernel_size), device, dtype)
        self.register_parameter(
            "bias", made_parameter((out_channels,), device, dtype) if bias else None)
        self.reset_parameters()

    def _sizes(self, value):
        return (value,) * self._rank if isinstance(value, int) else tuple(value)

    def _check_padding(self):
        if not isinstance(self.padding, str):
            return
        if self.padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string '{self.padding}', should be one of "
                             "{'same', 'valid'}")
        if self.padding == "same" and any(step != 1 for step in self.stride):
            raise ValueError("padding='same' is not supported for strided convolutions")

    def _border(self):
        """The padding as F.pad takes it: from the last dimension on, both sides."""
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        border = [0, 0] * self._rank
        if self.padding == "same":
            for i, (step, size) in enumerate(zip(reversed(self.dilation),
                                                 reversed(self.kernel_size))):
                whole = step * (size - 1)
                border[2 * i:2 * i + 2] = whole // 2, whole - whole // 2
        return border

    def reset_parameters(self) -> None:
        """Draws weight and bias anew: uniform, within 1 / sqrt(inputs of an output)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        text = (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}")
        if self.padding != (0,) * len(self.padding):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self._rank:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * self._rank:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


def _check(in_channels, out_channels, groups, padding_mode):
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(f"padding_mode must be one of {_PADDING_MODES}, but got "
                         f"padding_mode='{padding_mode}'")


class _Forward(_ConvNd):
    in_channels: int
    out_channels: int
    kernel_size: _Sizes
    stride: _Sizes
    padding: _Sizes | str
    dilation: _Sizes
    groups: int
    padding_mode: str
    transposed: bool
    weight: Parameter
    bias: Parameter | None

    def __init__(self, in_channels: int, out_channels: int, kernel_size: _Sizes, stride: _Sizes = 1,
                 padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: int = 1,
                 bias: bool = True, padding_mode: str = "zeros", device: _Device = None,
                 dtype: _dtype | None = None) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, 0,
                         groups, bias, padding_mode, device, dtype)

    def _conv_forward(self, input, weight, bias):
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self._rank
        return type(self)._function(input, weight, bias, self.stride, padding, self.dilation,
                                    self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Forward):
    """A convolution of (N, C, L)."""

    _rank, _function = 1, staticmethod(F.conv1d)


class Conv2d(_Forward):
    """A convolution of (N, C, H, W)."""

    _rank, _function = 2, staticmethod(F.conv2d)


class Conv3d(_Forward):
    """A convolution of (N, C, D, H, W)."""

    _rank, _function = 3, staticmethod(F.conv3d)


class _ConvTransposeNd(_ConvNd):
    in_channels: int
    out_channels: int
    kernel_size: _Sizes
    stride: _Sizes
    padding: _Sizes
    output_padding: _Sizes
    groups: int
    dilation: _Sizes
    padding_mode: str
    transposed: bool
    weight: Parameter
    bias: Parameter | None

    _transposed = True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: _Sizes, stride: _Sizes = 1,
                 padding: _Sizes = 0, output_padding: _Sizes = 0, groups: int = 1,
                 bias: bool = True, dilation: _Sizes = 1, padding_mode: str = "zeros",
                 device: _Device = None, dtype: _dtype | None = None) -> None:
        if padding_mode != "zeros":
            raise ValueError(f"Only \"zeros\" padding mode is supported for {type(self).__name__}")
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation,
                         output_padding, groups, bias, padding_mode, device, dtype)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        more = self._output_padding(input, output_size, self.stride, self.padding,
                                    self.kernel_size, self._rank, self.dilation)
        return type(self)._function(input, self.weight, self.bias, self.stride, self.padding,
                                    more, self.groups, self.dilation)

    def _output_padding(self, input, output_size, stride, padding, kernel_size,
                        num_spatial_dims, dilation=None):
        """The rows and columns to add so that the output has the wanted size."""
        if output_size is None:
            return self.output_padding
        rank, wanted = num_spatial_dims, list(output_size)
        batched = input.dim() == rank + 2
        outer = input.dim() - rank
        if len(wanted) == outer + rank:
            wanted = wanted[outer:]
        if len(wanted) != rank:
            raise ValueError(
                f"ConvTranspose{rank}D: for {input.dim()}D input, output_size must have {rank} or "
                f"{rank + (2 if batched else 1)} elements (got {len(output_size)})")
        least = [(input.size(outer + i) - 1) * stride[i] - 2 * padding[i]
                 + (1 if dilation is None else dilation[i]) * (kernel_size[i] - 1) + 1
                 for i in range(rank)]
        most = [low + stride[i] - 1 for i, low in enumerate(least)]
        if any(not low <= size <= high for low, size, high in zip(least, wanted, most)):
            raise ValueError(f"requested an output size of {wanted}, but valid sizes range from "
                             f"{least} to {most} (for an input of {input.size()[2:]})")
        return [size - low for size, low in zip(wanted, least)]


class ConvTranspose1d(_ConvTransposeNd):
    """The gradient of Conv1d with respect to its input, as a module."""

    _rank, _function = 1, staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """The gradient of Conv2d with respect to its input, as a module."""

    _rank, _function = 2, staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """The gradient of Conv3d with respect to its input, as a module."""

    _rank, _function = 3, staticmethod(F.conv_transpose3d)

"""Fold and Unfold: images and their sliding blocks."""

from __future__ import annotations

from foregrad.nn import functional as F
from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor

    _Sizes = int | tuple[int, ...]

__all__ = ["Fold", "Unfold"]


class Fold(Module):
    """An image that is the sum of its sliding blocks."""

    output_size: _Sizes
    kernel_size: _Sizes
    dilation: _Sizes
    padding: _Sizes
    stride: _Sizes

    def __init__(self, output_size: _Sizes, kernel_size: _Sizes, dilation: _Sizes = 1,
                 padding: _Sizes = 0, stride: _Sizes = 1) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding,
                      self.stride)

    def extra_repr(self):
        return (f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
                f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}")


class Unfold(Module):
    """The sliding blocks of an image as columns."""

    kernel_size: _Sizes
    dilation: _Sizes
    padding: _Sizes
    stride: _Sizes

    def __init__(self, kernel_size: _Sizes, dilation: _Sizes = 1, padding: _Sizes = 0,
                 stride: _Sizes = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return (f"kernel_size={self.kernel_size}, dilation={self.dilation}, "
                f"padding={self.padding}, stride={self.stride}")

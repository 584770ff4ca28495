"""Gradients of convolutions by name: with respect to the input, and to the weight."""

from __future__ import annotations

from foregrad import _C
from foregrad.autograd import grad as _grad_of
from foregrad.autograd._modes import enable_grad
from foregrad.nn import functional as F

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from foregrad import Tensor

    _Sizes = int | Sequence[int]

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input",
           "conv3d_weight"]


def _sized(sizes, like):
    """A tensor that is only there for its sizes; its gradient is wanted."""
    return _C._functions.zeros(tuple(sizes), dtype=like.dtype).requires_grad_()


def _of_input(convolve, input_size, weight, grad_output, settings):
    with enable_grad():
        input = _sized(input_size, weight)
        return _grad_of(convolve(input, weight, None, *settings), input, grad_output,
                        create_graph=weight.requires_grad or grad_output.requires_grad)[0]


def _of_weight(convolve, input, weight_size, grad_output, settings):
    with enable_grad():
        weight = _sized(weight_size, input)
        return _grad_of(convolve(input, weight, None, *settings), weight, grad_output,
                        create_graph=input.requires_grad or grad_output.requires_grad)[0]


def conv1d_input(input_size: Sequence[int], weight: Tensor, grad_output: Tensor,
                 stride: _Sizes = 1, padding: _Sizes = 0, dilation: _Sizes = 1,
                 groups: int = 1) -> Tensor:
    """The gradient of conv1d with respect to its input."""
    return _of_input(F.conv1d, input_size, weight, grad_output,
                     (stride, padding, dilation, groups))


def conv1d_weight(input: Tensor, weight_size: Sequence[int], grad_output: Tensor,
                  stride: _Sizes = 1, padding: _Sizes = 0, dilation: _Sizes = 1,
                  groups: int = 1) -> Tensor:
    """The gradient of conv1d with respect to its weight."""
    return _of_weight(F.conv1d, input, weight_size, grad_output,
                      (stride, padding, dilation, groups))


def conv2d_input(input_size: Sequence[int], weight: Tensor, grad_output: Tensor,
                 stride: _Sizes = 1, padding: _Sizes = 0, dilation: _Sizes = 1,
                 groups: int = 1) -> Tensor:
    """The gradient of conv2d with respect to its input."""
    return _of_input(F.conv2d, input_size, weight, grad_output,
                     (stride, padding, dilation, groups))


def conv2d_weight(input: Tensor, weight_size: Sequence[int], grad_output: Tensor,
                  stride: _Sizes = 1, padding: _Sizes = 0, dilation: _Sizes = 1,
                  groups: int = 1) -> Tensor:
    """The gradient of conv2d with respect to its weight."""
    return _of_weight(F.conv2d, input, weight_size, grad_output,
                      (stride, padding, dilation, groups))


def conv3d_input(input_size: Sequence[int], weight: Tensor, grad_output: Tensor,
                 stride: _Sizes = 1, padding: _Sizes = 0, dilation: _Sizes = 1,
                 groups: int = 1) -> Tensor:
    """The gradient of conv3d with respect to its input."""
    return _of_input(F.conv3d, input_size, weight, grad_output,
                     (stride, padding, dilation, groups))


def conv3d_weight(input: Tensor, weight_size: Sequence[int], grad_output: Tensor,
                  stride: _Sizes = 1, padding: _Sizes = 0, dilation: _Sizes = 1,
                  groups: int = 1) -> Tensor:
    """The gradient of conv3d with respect to its weight."""
    return _of_weight(F.conv3d, input, weight_size, grad_output,
                      (stride, padding, dilation, groups))

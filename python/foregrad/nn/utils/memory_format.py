"""Weights of convolutions in another layout of memory."""

from __future__ import annotations

from foregrad.nn.modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import memory_format as _memory_format

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module: Module, memory_format: _memory_format) -> Module:
    """Lays the weights of all Conv2d and ConvTranspose2d out in a format."""
    return _converted(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Module, memory_format: _memory_format) -> Module:
    """Lays the weights of all Conv3d and ConvTranspose3d out in a format."""
    return _converted(module, memory_format, (Conv3d, ConvTranspose3d))


def _converted(module, memory_format, kinds):
    for each in module.modules():
        if isinstance(each, kinds):
            each.weight.data = each.weight.detach().clone(memory_format=memory_format)
    return module

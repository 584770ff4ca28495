"""Names for annotations, as PyTorch has them."""

from __future__ import annotations

from typing import Any, Union

from foregrad import device as _device
from foregrad import dtype as _dtype
from foregrad._C import Size as _Size

_bool, _int, _float = bool, int, float
Number = Union[_int, _float, _bool]
Device = Union[_device, str, _int, None]
FileLike = Any
_size = Union[_Size, list[_int], tuple[_int, ...]]

__all__ = ["Device", "FileLike", "Number"]

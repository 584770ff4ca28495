"""Names for annotations, as PyTorch has them."""

from __future__ import annotations

from os import PathLike
from typing import IO, Union

from foregrad import device as _device
from foregrad import dtype as _dtype  # noqa: F401
from foregrad._C import Size as _Size

Number = Union[int, float, bool]
Device = Union[_device, str, int, None]
FileLike = Union[str, PathLike[str], IO[bytes]]
_size = Union[_Size, list[int], tuple[int, ...]]
_int, _float, _bool = int, float, bool

__all__ = ["Device", "FileLike", "Number"]

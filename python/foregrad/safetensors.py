"""Tensors in files of the format safetensors, with the names of the package of that name.

A file is written in full or not at all. A wrong file is refused as a whole, with one sentence that
says why.
"""

from __future__ import annotations

import os

from foregrad import _C

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from foregrad import Tensor, dtype
    from typing import Any
    from typing_extensions import Self

    _Path = str | os.PathLike[str]

__all__ = ["load", "load_file", "safe_open", "save", "save_file"]


def _checked(tensors, metadata):
    for name, tensor in tensors.items():
        if not isinstance(tensor, _C.Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected foregrad.Tensor but received "
                             f"{type(tensor).__name__}")
    for key, value in (metadata or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"safetensors: the metadata has {key!r}: {value!r}; expected texts")
    return dict(tensors), dict(metadata or {})


def _path(filename):
    """The bytes of a path, which may be of any encoding."""
    path = os.fsencode(filename)
    if b"\0" in path:
        raise ValueError("embedded null byte")  # as Python's own functions
    return path


def save_file(tensors: Mapping[str, Tensor], filename: _Path,
              metadata: Mapping[str, str] | None = None) -> None:
    """Writes tensors by name, and texts by name."""
    tensors, metadata = _checked(tensors, metadata)
    _C.safetensors_save(tensors, _path(filename), metadata)


def save(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes that save_file() writes."""
    return _C.safetensors_save_bytes(*_checked(tensors, metadata))


def load_file(filename: _Path, device: str = "cpu") -> dict[str, Tensor]:
    """All tensors of a file by name."""
    with safe_open(filename, "fg", device) as file:
        return file._file.read_all()


def load(data: bytes) -> dict[str, Tensor]:
    """All tensors by name, of the bytes of a file."""
    return _C.safetensors_load_bytes(bytes(data))[0]


class safe_open:
    """A file whose tensors are read one by one; `framework` is there for other programs' sake."""

    def __init__(self, filename: _Path, framework: str = "fg", device: str = "cpu") -> None:
        from foregrad._device import expect_cpu

        expect_cpu(device, "safe_open")
        os.stat(filename)  # with Python's own error where there is no file
        self._file = _C.SafeTensorsFile(_path(filename))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file = None

    def keys(self) -> list[str]:
        """The names of the tensors, in the order of their bytes."""
        return self._file.keys()

    def offset_keys(self) -> list[str]:
        """The same as keys()."""
        return self.keys()

    def metadata(self) -> dict[str, str] | None:
        """The texts of the file by name, or None."""
        return self._file.metadata() or None

    def get_tensor(self, name: str) -> Tensor:
        """Reads one tensor."""
        return self._file.read(name)

    def get_slice(self, name: str) -> _Slice:
        """A tensor that is read when it is indexed."""
        return _Slice(self._file, name)


class _Slice:
    def __init__(self, file, name):
        self._file, self._name = file, name
        self._dtype, self._shape = file.entry(name)

    def get_shape(self) -> list[int]:
        return list(self._shape)

    def get_dtype(self) -> dtype:
        return self._dtype

    def __getitem__(self, index: Any) -> Tensor:
        return self._file.read(self._name)[index].clone()

"""Tensors in files of the format safetensors, with the names of the package of that name.

A file is written in full or not at all. A wrong file is refused as a whole, with one sentence that
says why.
"""

import os

from foregrad import _C

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


def save_file(tensors, filename, metadata=None):
    """Writes tensors by name, and texts by name."""
    tensors, metadata = _checked(tensors, metadata)
    _C.safetensors_save(tensors, _path(filename), metadata)


def save(tensors, metadata=None):
    """The bytes that save_file() writes."""
    return _C.safetensors_save_bytes(*_checked(tensors, metadata))


def load_file(filename, device="cpu"):
    """All tensors of a file by name."""
    with safe_open(filename, "fg", device) as file:
        return file._file.read_all()


def load(data):
    """All tensors by name, of the bytes of a file."""
    return _C.safetensors_load_bytes(bytes(data))[0]


class safe_open:
    """A file whose tensors are read one by one; `framework` is there for other programs' sake."""

    def __init__(self, filename, framework="fg", device="cpu"):
        from foregrad._types import device as check_device

        check_device(device)
        os.stat(filename)  # with Python's own error where there is no file
        self._file = _C.SafeTensorsFile(_path(filename))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file = None

    def keys(self):
        """The names of the tensors, in the order of their bytes."""
        return self._file.keys()

    def offset_keys(self):
        """The same as keys()."""
        return self.keys()

    def metadata(self):
        """The texts of the file by name, or None."""
        return self._file.metadata() or None

    def get_tensor(self, name):
        """Reads one tensor."""
        return self._file.read(name)

    def get_slice(self, name):
        """A tensor that is read when it is indexed."""
        return _Slice(self._file, name)


class _Slice:
    def __init__(self, file, name):
        self._file, self._name = file, name
        self._dtype, self._shape = file.entry(name)

    def get_shape(self):
        return list(self._shape)

    def get_dtype(self):
        return self._dtype

    def __getitem__(self, index):
        return self._file.read(self._name)[index].clone()

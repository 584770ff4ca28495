"""save() and load(): objects with tensors in one file.

The file is one of the format safetensors. It holds the memory of the tensors, named by the way that
leads to them, and one entry more: a pickle of everything around them. Loading builds tensors,
containers, numbers and texts; other classes are refused unless the caller trusts them
(`add_safe_globals`) or the whole file (`weights_only=False`, which runs what the file says).
"""

from __future__ import annotations

import collections
import contextlib
import io
import json
import os
import pickle

from foregrad import _C, safetensors
from foregrad import _types as types

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, BinaryIO

    _File = str | os.PathLike[str] | BinaryIO
    _Named = type | Callable[..., Any] | tuple[type | Callable[..., Any], str]

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals",
           "save"]

_PICKLE = "foregrad.pickle"  # in the metadata: the name of the entry with the pickle
_TREE = "foregrad.tree"  # written by the first version, without pickle
DEFAULT_PROTOCOL = 4


# ---- writing

class _Memory:
    """The stand-in of the memory of tensors in a pickle."""

    def __init__(self, name, tensor):
        self.name, self.tensors = name, [tensor]

    def entry(self):
        """All of it: as the tensor that fills it, or in one dimension."""
        for tensor in self.tensors:
            if tensor.is_contiguous() and tensor.nbytes == _C._whole_storage(tensor).nbytes:
                return tensor.detach()
        return _C._whole_storage(self.tensors[0])


class _Memories:
    """Each memory once, under the name of the first tensor in it."""

    def __init__(self, obj):
        self._by_address, self._paths, self._taken = {}, {}, {"__metadata__"}
        self._walk(obj, "", set())

    def _walk(self, value, path, above):
        if isinstance(value, _C.Tensor):
            self._paths.setdefault(id(value), path.lstrip(".") or "tensor")
        elif isinstance(value, (dict, list, tuple)) and id(value) not in above:
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, each in items:
                self._walk(each, f"{path}.{key}", above | {id(value)})

    def of(self, tensor):
        address = _C._storage_ptr(tensor)
        if address in self._by_address:
            self._by_address[address].tensors.append(tensor)
        else:
            path = self._paths.get(id(tensor)) or f"memory.{len(self._by_address)}"
            self._by_address[address] = _Memory(self.name(path), tensor)
        return self._by_address[address]

    def name(self, wanted):
        """The name, made different where another entry has it."""
        while wanted in self._taken:
            wanted += "'"
        self._taken.add(wanted)
        return wanted

    def entries(self):
        return {memory.name: memory.entry() for memory in self._by_address.values()}


def _pickler(pickle_module, file, protocol, memories):
    class Pickler(pickle_module.Pickler):
        def persistent_id(self, obj):
            return obj.name if isinstance(obj, _Memory) else None

        def reducer_override(self, obj):
            if not isinstance(obj, _C.Tensor):
                return NotImplemented
            attributes = obj.__dict__ or None
            return _rebuild, (type(obj), memories.of(obj), obj.dtype, obj.storage_offset(),
                              tuple(obj.shape), obj.stride(), obj.requires_grad), attributes

    return Pickler(file, protocol)


def save(obj: Any, f: _File, pickle_module: Any = pickle,
         pickle_protocol: int = DEFAULT_PROTOCOL) -> None:
    """Writes an object to a file: tensors as they are in memory, everything else as a pickle."""
    memories, stream = _Memories(obj), io.BytesIO()
    try:
        _pickler(pickle_module, stream, pickle_protocol, memories).dump(obj)
    except RecursionError:
        raise ValueError("save: the object is nested too deeply to be pickled") from None
    entries = memories.entries()
    where = memories.name(_PICKLE)
    entries[where] = _C._from_bytes(stream.getvalue(), types.uint8, (stream.tell(),))
    if hasattr(f, "write"):
        f.write(safetensors.save(entries, {_PICKLE: where}))
    else:
        safetensors.save_file(entries, f, {_PICKLE: where})


# ---- reading

def _rebuild(cls, memory, dtype, offset, shape, strides, requires_grad):
    """A tensor over memory of a file, whose claims are believed after they were checked."""
    whole = _C._whole_storage(memory).view(dtype)
    reach = offset + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    if min((offset, *shape, *strides)) < 0 or (0 not in shape and reach >= whole.numel()):
        raise ValueError(f"sizes {shape}, strides {strides} and offset {offset} reach beyond the "
                         f"{whole.numel()} elements in memory")
    data = whole.as_strided(shape, strides, offset).data
    if cls is not _C.Tensor:
        return _C._make_subclass(cls, data, requires_grad)
    return data.requires_grad_(requires_grad)


_trusted = {}  # classes and functions that the user added, by name


def _name_of(thing):
    if isinstance(thing, tuple):  # (thing, the name under which a file knows it)
        return thing[1], thing[0]
    return f"{thing.__module__}.{thing.__qualname__}", thing


def add_safe_globals(safe_globals: Sequence[_Named]) -> None:
    """Classes and functions that load() may use although a file names them."""
    _trusted.update(map(_name_of, safe_globals))


def get_safe_globals() -> list[Any]:
    """The classes and functions that add_safe_globals() was given."""
    return list(_trusted.values())


def clear_safe_globals() -> None:
    """Takes back all that add_safe_globals() was given."""
    _trusted.clear()


class safe_globals(contextlib.ContextDecorator):
    """add_safe_globals() for the time of a `with`."""

    def __init__(self, safe_globals: Sequence[_Named]) -> None:
        self._added = dict(map(_name_of, safe_globals))

    def __enter__(self) -> None:
        self._before = dict(_trusted)
        _trusted.update(self._added)

    def __exit__(self, *error: Any) -> None:
        _trusted.clear()
        _trusted.update(self._before)


def _harmless():
    """The classes and functions of files of tensors, containers and numbers, by name."""
    from foregrad.nn import Buffer, Parameter

    things = [_rebuild, _C.Tensor, Parameter, Buffer, _C.Size, types.device,
              collections.OrderedDict, collections.defaultdict, collections.Counter,
              collections.deque, complex, set, frozenset, bytearray, list, dict, tuple, int,
              float, bool, str]
    known = dict(map(_name_of, things))
    for name, thing in vars(types).items():
        if isinstance(thing, types.dtype):
            known[str(thing)] = thing
        elif isinstance(thing, types._Named):
            known[f"{thing.__module__}.{name}"] = thing
    return known


class _Unpickler(pickle.Unpickler):
    """Reads a pickle of save(), whatever it names."""

    def __init__(self, stream, tensors):
        super().__init__(stream)
        self._tensors = tensors

    def persistent_load(self, name):
        return self._tensors[name]


class _CarefulUnpickler(pickle._Unpickler):
    """Builds known classes only; the one of Python's two unpicklers that can be restricted."""

    def __init__(self, stream, tensors):
        super().__init__(stream)
        self._tensors, self._known = tensors, {**_harmless(), **_trusted}

    persistent_load = _Unpickler.persistent_load

    def find_class(self, module, name):
        if f"{module}.{name}" not in self._known:
            raise pickle.UnpicklingError(
                f"load: the file names {module}.{name}, and weights_only=True builds tensors, "
                "containers, numbers and texts only; if you trust the file, allow it with "
                "foregrad.serialization.add_safe_globals, or pass weights_only=False, which may "
                "run any code that the file names")
        return self._known[f"{module}.{name}"]

    def load_build(self):
        """Gives an object its attributes; classes and functions are the program's own."""
        target = self.stack[-2]
        if any(target is thing for thing in self._known.values()):
            raise pickle.UnpicklingError(
                f"load: the file changes {target!r} itself; weights_only=True lets it change "
                "objects of its own only")
        super().load_build()

    dispatch = {**pickle._Unpickler.dispatch, pickle.BUILD[0]: load_build}


def _unpickled(tensors, name, weights_only):
    try:
        stream = io.BytesIO(tensors.pop(name).numpy().tobytes())
        return (_CarefulUnpickler if weights_only else _Unpickler)(stream, tensors).load()
    except pickle.UnpicklingError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError, EOFError, AttributeError,
            RuntimeError, IndexError) as error:
        if not weights_only:
            raise
        raise pickle.UnpicklingError(
            f"load: the file's pickle cannot be read ({type(error).__name__}: {error}); read its "
            "tensors with foregrad.safetensors.load_file") from None


def _decode(tree, tensors):
    if isinstance(tree, list):
        return [_decode(each, tensors) for each in tree]
    if not isinstance(tree, dict):
        return tree
    (kind, content), = tree.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "tuple":
        return tuple(_decode(each, tensors) for each in content)
    return {key: _decode(each, tensors) for key, each in content}


def _refuse_archive(start):
    """PyTorch's own files get a sentence of their own."""
    if start[:2] in (b"PK", b"\x80\x02"):
        raise ValueError("load: the file is no safetensors file but one of torch.save; let PyTorch "
                         "write the tensors with safetensors.torch.save_file") from None


def _read(f):
    if hasattr(f, "read"):
        data = bytes(f.read())
        _refuse_archive(data)
        return _C.safetensors_load_bytes(data)
    try:
        with safetensors.safe_open(f) as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}
    except (ValueError, RuntimeError):
        if os.path.isfile(f):
            with open(f, "rb") as file:
                _refuse_archive(file.read(2))
        raise


def load(f: _File, map_location: Any = None, pickle_module: Any = None, *,
         weights_only: bool | None = True) -> Any:
    """Reads a file of save(); of another file of the format the tensors by name."""
    if isinstance(map_location, (str, types.device)):
        types.expect_cpu(map_location, "load")
    if pickle_module not in (None, pickle):
        raise ValueError(f"load: pickle_module is {pickle_module!r}; only Python's own is used")
    tensors, metadata = _read(f)
    if metadata.get(_PICKLE) in tensors:
        return _unpickled(tensors, metadata[_PICKLE], weights_only is not False)
    if _TREE not in metadata:
        return tensors
    try:
        return _decode(json.loads(metadata[_TREE]), tensors)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("load: the file does not say how its tensors belong together; read it "
                         "with foregrad.safetensors.load_file") from None

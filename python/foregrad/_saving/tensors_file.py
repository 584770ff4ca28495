"""Files of the format safetensors that hold any object.

The memory of the tensors stands under the way that leads to them, and one entry more is a pickle
of everything around. save() wrote all files so at first, and does for names in .safetensors.
"""

from __future__ import annotations

import io
import json
import pickle

from foregrad import _C, safetensors
from foregrad import _types as types
from foregrad._saving import rebuild, rules
from foregrad._saving.machine import Machine
from foregrad._saving.reading import bad_reference, trusting_unpickler

PICKLE = "foregrad.pickle"  # in the metadata: the name of the entry with the pickle
TREE = "foregrad.tree"  # written by the first version, without pickle


def is_tensors_file(start):
    """Whether bytes begin as a file of the format: a length, and JSON."""
    return start[8:9] == b"{" and int.from_bytes(start[:8], "little") < 1 << 40


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
            return rebuild._rebuild, (type(obj), memories.of(obj), obj.dtype,
                                      obj.storage_offset(), tuple(obj.shape), obj.stride(),
                                      obj.requires_grad), attributes

    return Pickler(file, protocol)


def write_tensors_file(obj, path, pickle_module, protocol):
    """Writes the file of an object."""
    entries, metadata = _entries(obj, pickle_module, protocol)
    safetensors.save_file(entries, path, metadata)


def _entries(obj, pickle_module, protocol):
    memories, stream = _Memories(obj), io.BytesIO()
    try:
        _pickler(pickle_module, stream, protocol, memories).dump(obj)
    except RecursionError:
        raise ValueError("save: the object is nested too deeply to be pickled") from None
    entries = memories.entries()
    where = memories.name(PICKLE)
    entries[where] = _C._from_bytes(stream.getvalue(), types.uint8, (stream.tell(),))
    return entries, {PICKLE: where}


# ---- reading

def _unpickled(tensors, name, settings):
    data = tensors.pop(name).numpy().tobytes()

    def memory(reference):
        if not isinstance(reference, str) or reference not in tensors:
            raise bad_reference(f"there is no tensor {reference!r} in the file")
        return tensors[reference]

    if not settings.weights_only:
        return trusting_unpickler(settings.pickle_module or pickle, io.BytesIO(data), memory,
                                  settings.options).load()
    return Machine(data, rules.Careful(len(data), memory), **settings.options).run()


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


def _read(source):
    if source.path is None:
        return _C.safetensors_load_bytes(source.read(0, source.size))
    with safetensors.safe_open(source.path) as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}


def pickle_in(source):
    """The pickle in a file, or None."""
    tensors, metadata = _read(source)
    entry = tensors.get(metadata.get(PICKLE))
    return None if entry is None else entry.numpy().tobytes()


def read_tensors_file(source, settings):
    """The object of a file; of another file of the format the tensors by name."""
    tensors, metadata = _read(source)
    if metadata.get(PICKLE) in tensors:
        return _unpickled(tensors, metadata[PICKLE], settings)
    if TREE not in metadata:
        return tensors
    try:
        return _decode(json.loads(metadata[TREE]), tensors)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("load: the file does not say how its tensors belong together; read it "
                         "with foregrad.safetensors.load_file") from None

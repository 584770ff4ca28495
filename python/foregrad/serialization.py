"""save() and load(): dictionaries, lists, tensors and numbers in one file, without pickle.

The file is one of the format safetensors; how the tensors belong together is a text in it. Loading
a file runs no code of the file.
"""

import json
import os

from foregrad import _C, safetensors
from foregrad._types import device

__all__ = ["load", "save"]

_TREE = "foregrad.tree"
_PLAIN = (bool, int, float, str, type(None))


class _Writer:
    def __init__(self):
        self.tensors, self._names, self._keep = {}, {}, []

    def encode(self, value, path):
        """JSON for a value; tensors are noted under their paths, the same one once."""
        if isinstance(value, _C.Tensor):
            return {"tensor": self._name(value, path)}
        if isinstance(value, dict):
            return {"dict": [[self._key(key, path), self.encode(each, f"{path}.{key}")]
                             for key, each in value.items()]}
        if isinstance(value, (list, tuple)):
            items = [self.encode(each, f"{path}.{i}") for i, each in enumerate(value)]
            return {"tuple": items} if isinstance(value, tuple) else items
        if type(value) in _PLAIN:
            return value
        raise TypeError(f"save: {path.lstrip('.') or 'the object'} is a {type(value).__name__}; "
                        "expected tensors, numbers, texts, and dictionaries and lists of them")

    def _key(self, key, path):
        if isinstance(key, (str, int)) and not isinstance(key, bool):
            return key
        raise TypeError(f"save: {path.lstrip('.') or 'the object'} has the key {key!r}; expected a "
                        "text or an int")

    def _name(self, tensor, path):
        known = self._names.get(id(tensor))
        if known is None:
            known = path.lstrip(".") or "tensor"
            while known in self.tensors:
                known += "'"
            self._names[id(tensor)] = known
            self.tensors[known] = tensor.detach()
            self._keep.append(tensor)  # its id stays its own
        return known


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


def save(obj, f):
    """Writes nested dictionaries, lists and tuples of tensors, numbers and texts to a file."""
    writer = _Writer()
    tree = {_TREE: json.dumps(writer.encode(obj, ""))}
    if hasattr(f, "write"):
        f.write(safetensors.save(writer.tensors, tree))
    else:
        safetensors.save_file(writer.tensors, f, tree)


def load(f, map_location=None, *, weights_only=True):
    """What save() wrote; of another file of the format the tensors by name.

    map_location: the cpu, however it is said; weights_only: files hold nothing else.
    """
    if isinstance(map_location, (str, device)):
        device(map_location)
    if hasattr(f, "read"):
        tensors, metadata = _C.safetensors_load_bytes(f.read())
    else:
        os.stat(f)  # with Python's own error where there is no file
        with safetensors.safe_open(f) as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}
            metadata = file.metadata() or {}
    if _TREE not in metadata:
        return tensors
    try:
        return _decode(json.loads(metadata[_TREE]), tensors)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("load: the file does not say how its tensors belong together; read it "
                         "with foregrad.safetensors.load_file") from None

"""Pickles in which tensors are references to memory, and names are PyTorch's.

Python's pickler writes a name only if it can import it, and PyTorch need not be there. So it writes
stand-ins, which lie in a module whose random name no text of the user contains; `Names.translate`
then puts PyTorch's names in their place. Protocols 2 and 3 have no lengths that this would change.
Later protocols do, and have our own names.
"""

from __future__ import annotations

import io
import re
import secrets
import sys
import types as types_of_python

from foregrad import _C
from foregrad import _types as types
from foregrad._saving import locations, names, rebuild
from foregrad.nn.parameter import Buffer, Parameter
from foregrad.storage import TypedStorage, UntypedStorage, storage_of

LAST_WITH_TORCH_NAMES = 3


class Memories:
    """The memories that a pickle refers to, each once, under numbers."""

    def __init__(self):
        self.storages = []  # in the order of their numbers
        self._known = {}  # number and dtype, by address

    def reference(self, storage, dtype):
        """Number and dtype of a memory: that of its first tensor."""
        address = _C._storage_ptr(storage._bytes)
        if address not in self._known:
            whole = dtype is not None and storage.nbytes() % dtype.itemsize == 0
            self._known[address] = str(len(self.storages)), dtype if whole else None
            self.storages.append(storage)
        return self._known[address]


class _StandIn:
    """A name of PyTorch."""

    def __init__(self, module, attribute):
        self.__module__, self.attribute = module, attribute

    def __call__(self):
        """Never called: a pickler only accepts functions as makers of objects."""


class _TorchNames:
    """Stand-ins for names of PyTorch in one pickle."""

    def __init__(self):
        self._module = types_of_python.ModuleType(f"_foregrad_{secrets.token_hex(16)}")
        self._texts, self._made = [], {}

    def __enter__(self):
        sys.modules[self._module.__name__] = self._module
        return self

    def __exit__(self, *error):
        del sys.modules[self._module.__name__]

    def _add(self, mark, text):
        attribute = f"{mark}{len(self._texts)}"
        self._texts.append(text)
        made = _StandIn(self._module.__name__, attribute)
        setattr(self._module, attribute, made)
        return made

    def of(self, thing):
        """The stand-in of a class, function or kind of memory."""
        if thing not in self._made:
            module, name = names.TORCH[thing] if thing in names.TORCH else (
                "torch", names.STORAGES[thing])
            self._made[thing] = self._add("n", f"{module}\n{name}\n")
        return self._made[thing]

    def dtype(self, thing):
        """A dtype, written as if it were a reference to memory: only so the pickler asks for it."""
        return self._add("d", f"torch\n{names.DTYPES[thing]}\n")

    def translate(self, pickled):
        """The pickle with PyTorch's names; a dtype is no reference any more."""
        module = re.escape(self._module.__name__.encode())
        pattern = re.compile(rb"c%s\n(?:n(\d+)\n|d(\d+)\n(q.|r....)Q)" % module, re.DOTALL)
        return pattern.sub(lambda found: b"c%s%s" % (
            self._texts[int(found[1] or found[2])].encode(), found[3] or b""), pickled)


class _OwnNames:
    """No stand-ins: names as they are."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def of(self, thing):
        return None if thing is UntypedStorage else thing

    dtype = None

    def translate(self, pickled):
        return pickled


def _tensor_call(tensor, memories, naming):
    """The function that makes a plain tensor, and its arguments."""
    storage, dtype = storage_of(tensor), tensor.dtype
    geometry = (tensor.storage_offset(), tuple(tensor.shape), tensor.stride(),
                tensor.requires_grad and type(tensor) is not Parameter, rebuild.empty_hooks())
    if memories.reference(storage, dtype)[1] is dtype:
        typed = TypedStorage(wrap_storage=storage, dtype=dtype)
        return naming.of(rebuild._rebuild_tensor_v2), (typed, *geometry)
    return naming.of(rebuild._rebuild_tensor_v3), (storage, *geometry, dtype)


def _reduced_tensor(tensor, memories, naming):
    made, arguments = _tensor_call(tensor, memories, naming)
    kind, state = type(tensor), dict(tensor.__dict__)
    if kind is Parameter:
        plain = _Plain(made, arguments)
        if not state:
            return naming.of(rebuild._rebuild_parameter), (plain, tensor.requires_grad,
                                                           rebuild.empty_hooks())
        return naming.of(rebuild._rebuild_parameter_with_state), (
            plain, tensor.requires_grad, rebuild.empty_hooks(), state)
    if kind is Buffer:
        kind, state = _C.Tensor, {**state, "_is_buffer": True}
    elif kind is _C.Tensor and not state:
        return made, arguments
    return naming.of(rebuild._rebuild_from_type_v2), (made, _class_of(kind, naming), arguments,
                                                      state)


def _class_of(kind, naming):
    return naming.of(kind) if kind is _C.Tensor else kind


class _Plain:
    """The tensor without its class, inside of a parameter."""

    def __init__(self, made, arguments):
        self.call = made, arguments


def _reduced(obj, memories, naming):
    """Function and arguments that make an object again, or NotImplemented."""
    if isinstance(obj, _StandIn):
        return obj.attribute
    if isinstance(obj, _Plain):
        return obj.call
    if isinstance(obj, _C.Tensor):
        if type(obj).__reduce_ex__ is not _C.Tensor.__reduce_ex__:
            return NotImplemented  # its class knows better
        return _reduced_tensor(obj, memories, naming)
    if type(obj) is _C.Size:
        return naming.of(_C.Size), (tuple(obj),)
    if type(obj) is types.device:
        return naming.of(types.device), obj.__reduce__()[1]
    if type(obj) is types.layout:
        return naming.of(rebuild._get_layout), ("torch.strided",)
    return NotImplemented


def _reference(obj, memories, naming, more):
    """The tuple in a file that stands for memory."""
    typed = isinstance(obj, TypedStorage)
    storage = obj._untyped_storage if typed else obj
    number, _ = memories.reference(storage, obj.dtype if typed else None)
    kind = naming.of(obj.dtype if typed else UntypedStorage)
    return ("storage", kind, number, locations.tag(obj), obj.size(), *more)


def pickled(obj, pickle_module, protocol, more=()):
    """The pickle of an object, and the memories of its tensors.

    `more` follows in each reference to memory: older files have one thing more.
    """
    memories = Memories()
    torch_names = protocol <= LAST_WITH_TORCH_NAMES
    with (_TorchNames() if torch_names else _OwnNames()) as naming:
        other = getattr(pickle_module.Pickler, "reducer_override", None)

        class Pickler(pickle_module.Pickler):
            def persistent_id(self, obj):
                kind = type(obj)
                if kind is TypedStorage or kind is UntypedStorage:
                    return _reference(obj, memories, naming, more)
                return naming.dtype(obj) if kind is types.dtype and torch_names else None

            def reducer_override(self, obj):
                made = _reduced(obj, memories, naming)
                return other(self, obj) if made is NotImplemented and other else made

        stream = io.BytesIO()
        try:
            Pickler(stream, protocol).dump(obj)
        except RecursionError:
            raise ValueError("save: the object is nested too deeply to be pickled") from None
        return naming.translate(stream.getvalue()), memories.storages

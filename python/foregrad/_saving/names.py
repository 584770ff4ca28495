"""Names of classes and functions in files: PyTorch's beside ours.

A file has PyTorch's names, so that both libraries read it; each is a row here. Names that stand for
something that does not exist here are rows too, with the sentence that says so.
"""

from __future__ import annotations

import collections
import importlib
import pickle
import sys
import types as types_of_python

from foregrad import _C
from foregrad import _types as types
from foregrad._saving import rebuild
from foregrad.nn.parameter import Buffer, Parameter
from foregrad.storage import TypedStorage, UntypedStorage

STORAGES = {types.float64: "DoubleStorage", types.float32: "FloatStorage",
            types.float16: "HalfStorage", types.bfloat16: "BFloat16Storage",
            types.int64: "LongStorage", types.int32: "IntStorage", types.int16: "ShortStorage",
            types.int8: "CharStorage", types.uint8: "ByteStorage", types.bool: "BoolStorage"}
DTYPES = {dtype: str(dtype).rpartition(".")[2] for dtype in STORAGES}
_ALIASES = {"float": types.float32, "double": types.float64, "half": types.float16,
            "long": types.int64, "int": types.int32, "short": types.int16}
_MAKERS = ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter",
           "_rebuild_parameter_with_state")
_OLD_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}
_OLD_NAMES = {"builtins.xrange": "builtins.range", "builtins.unicode": "builtins.str",
              "builtins.long": "builtins.int"}
_RENAMED = {"torch.nn.modules.linear.NonDynamicallyQuantizableLinear":
            "torch.nn.modules.linear.Linear"}  # another class for the sake of quantisation only
_ABSENT = {"torch._utils._rebuild_sparse_tensor": "a sparse tensor",
           "torch._utils._rebuild_sparse_csr_tensor": "a sparse tensor",
           "torch._utils._rebuild_qtensor": "a quantised tensor",
           "torch._utils._rebuild_nested_tensor": "a nested tensor",
           "torch._utils._rebuild_meta_tensor_no_storage": "a tensor of the device meta",
           "torch._utils._rebuild_wrapper_subclass": "a tensor without memory of its own",
           "torch._utils._rebuild_device_tensor_from_numpy": "a tensor of another device"}
_ABSENT_DTYPES = ("complex32", "complex64", "complex128", "chalf", "cfloat", "cdouble", "uint16",
                  "uint32", "uint64", "quint8", "qint8", "qint32", "quint4x2", "quint2x4",
                  "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
                  "float8_e8m0fnu", "float4_e2m1fn_x2")


class StorageKind:
    """The class of a storage in a file: memory with a dtype, or bytes (None)."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.itemsize = 1 if dtype is None else dtype.itemsize

    def over(self, storage):
        """The storage as the file speaks of it."""
        if self.dtype is None:
            return storage
        return TypedStorage(wrap_storage=storage, dtype=self.dtype)


_KINDS = {dtype: StorageKind(dtype) for dtype in (None, *STORAGES)}


def kind_of(dtype):
    """The kind of memory of a dtype; of bytes for None."""
    return _KINDS[dtype]


def _own_names():
    """Objects of this library by the names that its files have."""
    found = {"foregrad.Tensor": _C.Tensor, "foregrad.Size": _C.Size,
             "foregrad.nn.parameter.Parameter": Parameter,
             "foregrad.nn.parameter.Buffer": Buffer,
             "foregrad._types.device": types.device, "foregrad.device": types.device,
             "foregrad._device.device": types.device,
             "foregrad.serialization._rebuild": rebuild._rebuild,
             "foregrad._saving.rebuild._generator": rebuild._generator,
             "foregrad._saving.rebuild._get_layout": rebuild._get_layout,
             "foregrad._saving.rebuild._rebuild_from_type_v2": rebuild._rebuild_from_type_v2}
    for name in _MAKERS:
        found[f"foregrad._saving.rebuild.{name}"] = getattr(rebuild, name)
    for dtype, name in DTYPES.items():
        found[f"foregrad.{name}"] = dtype
    for name, thing in vars(types).items():
        if isinstance(thing, types._Named):
            found[f"foregrad.{name}"] = found[f"{thing.__module__}.{name}"] = thing
    return found


def _torch_names():
    """The same objects by the names that files of PyTorch have."""
    found = {"torch.Tensor": _C.Tensor, "torch._tensor.Tensor": _C.Tensor, "torch.Size": _C.Size,
             "torch.nn.parameter.Parameter": Parameter, "torch.nn.Parameter": Parameter,
             "torch.nn.parameter.Buffer": Buffer, "torch.device": types.device,
             "torch.serialization._get_layout": rebuild._get_layout,
             "torch._tensor._rebuild_from_type_v2": rebuild._rebuild_from_type_v2,
             "torch.storage.UntypedStorage": _KINDS[None],
             "torch.UntypedStorage": _KINDS[None]}
    for name in _MAKERS:
        found[f"torch._utils.{name}"] = getattr(rebuild, name)
    for dtype, name in STORAGES.items():
        found[f"torch.{name}"] = found[f"torch.cuda.{name}"] = _KINDS[dtype]
        found[f"torch.{DTYPES[dtype]}"] = dtype
    for name, dtype in _ALIASES.items():
        found[f"torch.{name}"] = dtype
    return found


def _python_names():
    """Plain classes of Python that may stand in a file."""
    things = [collections.OrderedDict, collections.defaultdict, collections.Counter,
              collections.deque, complex, set, frozenset, bytearray, list, dict, tuple, int, float,
              bool, str]
    return {f"{thing.__module__}.{thing.__qualname__}": thing for thing in things}


KNOWN = {**_python_names(), **_own_names(), **_torch_names()}


def refuse_absent(name):
    """Refuses a name of PyTorch that stands for something that does not exist here."""
    short = name.removeprefix("torch.").removeprefix("cuda.")
    thing = _ABSENT.get(name)
    if name.startswith("torch.") and short in _ABSENT_DTYPES:
        thing = f"the dtype {short}"
    elif name.startswith("torch.") and short.endswith("Storage") and name not in KNOWN:
        thing = "memory of a class"
    if thing:
        raise pickle.UnpicklingError(f"load: the file has {thing} ({name}), which does not exist "
                                     "here; convert it with PyTorch and save it again")


def modern(module, name):
    """A name of Python 2 under its new module."""
    full = f"{_OLD_MODULES.get(module, module)}.{name}"
    return _OLD_NAMES.get(full, full)


def ours(name, load=True):
    """The class or function here that has a name of PyTorch, or None; `load` may import modules.

    It may lie in the module of the same name, or in a package above.
    """
    if name in KNOWN:
        return KNOWN[name]
    path = name.split(".")[1:]
    for end in range(len(path) - 1, -1, -1):
        module = _module(".".join(["foregrad", *path[:end]]), load)
        thing = getattr(module, path[-1], None)
        if thing is not None and not isinstance(thing, types_of_python.ModuleType):
            return thing
    return ours(_RENAMED[name], load) if name in _RENAMED else None


def _module(name, load):
    if load and name not in sys.modules and not name.endswith("__main__"):
        try:
            importlib.import_module(name)
        except ImportError:
            return None
    return sys.modules.get(name)


def name_of(thing):
    """The name under which a pickle has a class or function."""
    return f"{thing.__module__}.{thing.__qualname__}"


# ---- names that are written

TORCH = {_C.Tensor: ("torch", "Tensor"), _C.Size: ("torch", "Size"),
         types.device: ("torch", "device"), UntypedStorage: ("torch.storage", "UntypedStorage"),
         rebuild._get_layout: ("torch.serialization", "_get_layout"),
         rebuild._rebuild_from_type_v2: ("torch._tensor", "_rebuild_from_type_v2"),
         **{getattr(rebuild, name): ("torch._utils", name) for name in _MAKERS}}

"""Constructors that tell sizes from data by looking: Tensor(...), x.new(...), LongTensor(...).

Integers and a Size are sizes, and the elements have no values yet; another sequence is data; a
tensor is taken as it is, over the same memory.
"""

import builtins

from foregrad import _C
from foregrad import _types as types

_functions = _C._functions
_FORMS = "(*, device=None), (int... or Size), (data: a sequence), (other: a Tensor)"


def _kinds(args, kwargs):
    named = [f"{name}={type(value).__name__}" for name, value in kwargs.items()]
    return ", ".join([type(arg).__name__ for arg in args] + named)


def _expect_cpu(device):
    """Refuses another device, as these constructors do: with RuntimeError."""
    kind = types.device(device).type
    if kind != "cpu":
        raise RuntimeError(f"new(): legacy constructor expects device type: cpu but device type: "
                           f"{kind} was passed")


def _is_size(arg):
    """An integer of Python or numpy; a bool is none, and a tensor is data where it stands first."""
    return hasattr(arg, "__index__") and not isinstance(arg, (builtins.bool, _C.Tensor)) and \
        not getattr(arg, "shape", ())


def _with_sizes(sizes, dtype):
    try:
        return _functions.empty(tuple(sizes), dtype=dtype)
    except (TypeError, OverflowError):
        raise TypeError(f"new(): the sizes are ({_kinds(sizes, {})}); expected integers of 64 "
                        "bits") from None


def _with_data(data, dtype):
    if isinstance(data, (str, bytes)) or not hasattr(data, "__getitem__") \
            or not hasattr(data, "__len__") or isinstance(data, dict) or getattr(
                data, "shape", None) == ():
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    if hasattr(data, "__array_interface__"):
        return _C._share_array(data, "new").to(dtype)
    return _C._tensor_from_data(data, dtype)


def _with_tensor(other, dtype):
    if dtype is not None and other.dtype is not dtype:
        raise TypeError(f"new(): the tensor is {other.dtype}; expected {dtype}, because a tensor "
                        "is taken as it is; convert it with .to()")
    return _functions.alias(other)


def construct(args, kwargs, dtype=None):
    """The tensor that the arguments make, of the given dtype, the tensor's, or the default."""
    kwargs = dict(kwargs)
    device = kwargs.pop("device", None)
    if device is not None:
        _expect_cpu(device)
    if len(kwargs) > 1 or (kwargs and args) or not kwargs.keys() <= {"size", "data", "other"}:
        raise TypeError(f"new() received an invalid combination of arguments: got "
                        f"({_kinds(args, kwargs)}), but expected one of: {_FORMS}")
    if "size" in kwargs:
        args = (_C.Size(kwargs["size"]),)
    elif kwargs:
        args = tuple(kwargs.values())
    number = dtype or _C.get_default_dtype()
    if not args:
        return _functions.empty((0,), dtype=number)
    first = args[0]
    if _is_size(first):
        return _with_sizes(args, number)
    if len(args) > 1:
        raise TypeError(f"new() received an invalid combination of arguments: got "
                        f"({_kinds(args, kwargs)}), but expected one of: {_FORMS}")
    if isinstance(first, _C.Size):
        return _with_sizes(first, number)
    if isinstance(first, _C.Tensor):
        return _with_tensor(first, dtype)
    return _with_data(first, number)

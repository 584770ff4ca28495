"""The types FloatTensor, LongTensor and so on: constructors, and names in isinstance().

They are types for isinstance() only: every tensor is a Tensor.
"""

import warnings

from foregrad import _C
from foregrad import _types as types
from foregrad._device import not_compiled
from foregrad._legacy import construct

Tensor = _C.Tensor
DTYPES = {
    "FloatTensor": types.float32, "DoubleTensor": types.float64, "HalfTensor": types.float16,
    "BFloat16Tensor": types.bfloat16, "ByteTensor": types.uint8, "CharTensor": types.int8,
    "ShortTensor": types.int16, "IntTensor": types.int32, "LongTensor": types.int64,
    "BoolTensor": types.bool,
}


class tensortype(type):
    """The type of FloatTensor and its like."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype and not cls.is_cuda

    def __subclasscheck__(cls, subclass):
        return subclass is cls

    def __call__(cls, *args, **kwargs):
        if cls.is_cuda:
            raise TypeError(f"type {cls.__module__}.{cls.__name__} not available: "
                            f"{not_compiled(cls.__name__, 'cuda')}")
        return construct(args, kwargs, cls.dtype)

    def __repr__(cls):
        return f"<class '{cls.__module__}.{cls.__name__}'>"


def make(name, module="foregrad"):
    """The type of a name, of the package or of its module cuda."""
    return tensortype(name, (), {
        "__module__": module, "__doc__": f"A tensor of {DTYPES[name]}.", "dtype": DTYPES[name],
        "layout": types.strided, "is_cuda": module != "foregrad", "is_sparse": False,
        "is_xpu": False})


FloatTensor = make("FloatTensor")
DoubleTensor = make("DoubleTensor")
HalfTensor = make("HalfTensor")
BFloat16Tensor = make("BFloat16Tensor")
ByteTensor = make("ByteTensor")
CharTensor = make("CharTensor")
ShortTensor = make("ShortTensor")
IntTensor = make("IntTensor")
LongTensor = make("LongTensor")
BoolTensor = make("BoolTensor")


def dtype_of(kind):
    """The dtype that Tensor.type() is asked for by a type or its name."""
    if isinstance(kind, tensortype):
        if kind.is_cuda:
            raise not_compiled("type", "cuda")
        return kind.dtype
    if kind is Tensor:
        return _C.get_default_dtype()
    module, _, name = kind.rpartition(".")
    if name not in DTYPES or module not in ("", "foregrad", "torch", "foregrad.cuda", "torch.cuda"):
        raise ValueError(f"invalid type: '{kind}'")
    if module.endswith("cuda"):
        raise not_compiled("type", "cuda")
    return DTYPES[name]


def set_default_tensor_type(t):
    """Sets the dtype of floats by the name of a type; use set_default_dtype."""
    warnings.warn("foregrad.set_default_tensor_type() is deprecated, please use "
                  "foregrad.set_default_dtype() and foregrad.set_default_device() as alternatives.",
                  UserWarning, stacklevel=2)
    if isinstance(t, tensortype) and t.is_cuda or isinstance(t, str) and ".cuda." in t:
        raise TypeError(f"type {t} not available: Foregrad is not compiled with CUDA enabled")
    if not isinstance(t, (str, tensortype)) and t is not Tensor:
        raise TypeError("invalid type object: only floating-point types are supported as the "
                        "default type")
    dtype = dtype_of(t)
    if not dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _C.set_default_dtype(dtype)

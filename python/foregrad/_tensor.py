"""Methods of Tensor that are about Python: conversion, copies, pickling, printing, gradients."""

import builtins
import warnings

from foregrad import _C
from foregrad import _types as types
from foregrad._C import Tensor
from foregrad._legacy import construct

_functions = _C._functions


def _method(function):
    setattr(Tensor, function.__name__, function)
    return function


def _property(function):
    setattr(Tensor, function.__name__, property(function, doc=function.__doc__))


# ---- construction

def _new_tensor(cls, *args, **kwargs):
    """The tensor that Tensor(...) makes."""
    if kwargs.get("device") is not None and args and isinstance(args[0], Tensor):
        raise RuntimeError("Tensor(tensor, device=...) is not supported; use foregrad.as_tensor")
    result = construct(args, kwargs)
    return result if cls is Tensor else _C._as_subclass(result, cls)


@staticmethod
def _make_subclass(cls, data, require_grad=False):
    return _C._make_subclass(cls, data, require_grad)


Tensor._make_subclass = _make_subclass


@_method
def as_subclass(self, cls):
    """The same data as an object of a subclass."""
    return _C._as_subclass(self, cls)


# ---- description: device, layout, sizes

@_property
def device(self):
    """The device of the tensor: the cpu."""
    return _CPU


_CPU = types.device("cpu")


@_property
def layout(self):
    """How the elements are laid out."""
    return types.strided


@_method
def size(self, dim=None):
    """All sizes, or that of one dimension."""
    return self.shape if dim is None else self.shape[_checked(self, dim)]


def _checked(self, dim):
    rank = max(self.ndim, 1)
    if not -rank <= dim < rank or self.ndim == 0:
        raise IndexError("Dimension out of range (expected to be in range of "
                         f"[{-rank}, {rank - 1}], but got {dim})")
    return dim


@_method
def stride(self, dim=None):
    """All strides, or that of one dimension, in elements."""
    strides = _C._strides(self)
    return strides if dim is None else strides[_checked(self, dim)]


@_method
def dim(self):
    """The number of dimensions."""
    return self.ndim


Tensor.ndimension = dim


@_method
def numel(self):
    """The number of elements."""
    return _C._numel(self)


Tensor.nelement = numel


@_method
def element_size(self):
    return self.itemsize


@_method
def storage_offset(self):
    return _C._storage_offset(self)


@_method
def data_ptr(self):
    return _C._data_ptr(self)


@_method
def is_contiguous(self, memory_format=types.contiguous_format):
    if memory_format is not types.contiguous_format:
        raise NotImplementedError(f"is_contiguous: {memory_format} is not here yet")
    return _C._is_contiguous(self)


@_method
def is_floating_point(self):
    return self.dtype.is_floating_point


@_method
def is_complex(self):
    return False


@_method
def is_signed(self):
    return self.dtype.is_signed


@_method
def is_inference(self):
    return _C._is_inference(self)


@_method
def _is_view(self):
    return _C._is_view(self)


@_method
def _use_count(self):
    return _C._use_count(self)


@_method
def get_device(self):
    return -1


@_method
def is_set_to(self, tensor):
    return (self.data_ptr() == tensor.data_ptr() and self.shape == tensor.shape
            and self.stride() == tensor.stride())


@_method
def is_same_size(self, other):
    return self.shape == other.shape


def is_tensor(obj):
    """Whether an object is a Tensor."""
    return isinstance(obj, Tensor)


# ---- to Python

@_method
def item(self):
    """The only element as a Python number."""
    return _C._item(self)


@_method
def tolist(self):
    """The elements as nested lists; a zero-dim tensor gives a number."""
    return _C._tolist(self)


@_method
def __iter__(self):
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@_method
def __contains__(self, element):
    if not isinstance(element, (Tensor, builtins.int, builtins.float, builtins.bool)):
        raise RuntimeError("Tensor.__contains__ only supports Tensor or scalar, but you passed in "
                           f"a {type(element)}.")
    return (self == element).any().item()


@_method
def __reversed__(self):
    return self if self.ndim == 0 else self.flip(0)


@_method
def __format__(self, spec):
    if self.ndim == 0 and type(self) is Tensor:
        return self.item().__format__(spec)
    return object.__format__(self, spec)


@_method
def numpy(self, *, force=False):
    """A numpy array over the same memory."""
    import numpy as np

    if force:
        return self.detach().numpy()
    if self.requires_grad and _C.is_grad_enabled():
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use "
                           "tensor.detach().numpy() instead.")
    if self.dtype is types.bfloat16:
        raise TypeError("Got unsupported ScalarType BFloat16")
    return np.asarray(memoryview(self))


@_method
def __array__(self, dtype=None, copy=None):
    array = self.numpy()
    made = array if dtype is None else array.astype(dtype, copy=False)
    if copy is False and made is not array:
        raise ValueError(f"__array__: {self.dtype} as {dtype} needs a copy, and copy is False")
    return made.copy() if copy and made is array else made


Tensor.__array_priority__ = 1000


@_method
def __array_wrap__(self, array, context=None, return_scalar=False):
    """Makes results of numpy's functions on tensors tensors, too."""
    return _C._share_array(array, "__array_wrap__")


@_method
def square_(self):
    """Each element times itself, in place."""
    return self.pow_(2)


@_method
def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if stream not in (None, -1) or dl_device not in (None, (1, 0)):
        raise BufferError(f"__dlpack__: got stream {stream} and device {dl_device}; only the cpu, "
                          "(1, 0), exists here, and it has no streams")
    return _C._to_dlpack(self.clone() if copy else self)


@_method
def __dlpack_device__(self):
    return (1, 0)


# ---- dtypes

_memory_formats = (types.contiguous_format, types.preserve_format)


@_method
def to(self, *args, **kwargs):
    """The tensor in another dtype, or like another tensor; itself when nothing changes."""
    kwargs.pop("non_blocking", None)
    dtype = kwargs.pop("dtype", None)
    copy = kwargs.pop("copy", False)
    memory_format = kwargs.pop("memory_format", None)
    where = kwargs.pop("device", None)
    other = kwargs.pop("other", None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    for arg in args:
        if isinstance(arg, types.dtype) or arg in (builtins.float, builtins.int, builtins.bool):
            dtype = arg
        elif isinstance(arg, (str, types.device)):
            where = arg
        elif isinstance(arg, Tensor):
            other = arg
        elif isinstance(arg, builtins.bool) or arg is None:
            pass
        elif isinstance(arg, builtins.int):
            where = arg
        else:
            raise TypeError(f"to() received an invalid argument of type {type(arg).__name__}; "
                            "expected a dtype, a device or a Tensor")
    if where is not None:
        types.expect_cpu(where, "to")
    if memory_format not in (None, *_memory_formats):
        raise NotImplementedError(f"to: {memory_format} is not here yet")
    if other is not None:
        dtype = other.dtype
    return _functions.to(self, self.dtype if dtype is None else dtype, builtins.bool(copy))


def _conversion(name, dtype):
    def convert(self, memory_format=types.preserve_format):
        return self.to(dtype, memory_format=memory_format)

    convert.__name__ = name
    convert.__doc__ = f"The tensor as {dtype}."
    setattr(Tensor, name, convert)


for _name, _dtype in (("half", types.float16), ("float", types.float32), ("double", types.float64),
                      ("bfloat16", types.bfloat16), ("char", types.int8), ("byte", types.uint8),
                      ("short", types.int16), ("int", types.int32), ("long", types.int64),
                      ("bool", types.bool)):
    _conversion(_name, _dtype)


@_method
def cpu(self, memory_format=types.preserve_format):
    return self.to("cpu", memory_format=memory_format)


_TYPE_NAMES = {
    types.float32: "FloatTensor", types.float64: "DoubleTensor", types.float16: "HalfTensor",
    types.bfloat16: "BFloat16Tensor", types.uint8: "ByteTensor", types.int8: "CharTensor",
    types.int16: "ShortTensor", types.int32: "IntTensor", types.int64: "LongTensor",
    types.bool: "BoolTensor",
}


@_method
def type(self, dtype=None, non_blocking=False):
    """The name of the type, or the tensor in another dtype. Nothing blocks here."""
    if dtype is None:
        return f"foregrad.{_TYPE_NAMES[self.dtype]}"
    if not isinstance(dtype, types.dtype):
        from foregrad._typed import dtype_of, tensortype

        if isinstance(dtype, (str, tensortype)) or dtype is Tensor:
            dtype = dtype_of(dtype)
    return self.to(dtype)


type = builtins.type


@_method
def type_as(self, other):
    return self.to(other.dtype)


@_method
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False,
               layout=types.strided, pin_memory=False):
    types.expect_cpu(device, "new_tensor")
    if pin_memory or layout not in (None, types.strided):
        raise NotImplementedError("new_tensor: expected layout strided and no pin_memory; nothing "
                                  "else exists on the cpu")
    result = _C._tensor_from_data(data, self.dtype if dtype is None else dtype)
    return result.requires_grad_() if requires_grad else result


@_method
def new(self, *args, **kwargs):
    """A tensor of the same dtype: from sizes, a sequence, or a tensor."""
    return construct(args, kwargs, self.dtype)


# ---- gradients

@_method
def requires_grad_(self, requires_grad=True):
    """Sets whether gradients are computed; returns the tensor."""
    if not isinstance(requires_grad, builtins.bool):
        raise TypeError("requires_grad_(): requires_grad must be a bool, not "
                        f"{type(requires_grad).__name__}")
    _C._requires_grad_(self, requires_grad)
    return self


@_method
def detach(self):
    """The same memory without history."""
    return _functions.detach(self)


@_method
def detach_(self):
    """Cuts the history of the tensor itself."""
    _C._detach_(self)
    return self


@_method
def retain_grad(self):
    """Keeps the gradient of a non-leaf in .grad."""
    _C._retain_grad(self)


@_method
def register_hook(self, hook):
    """Calls hook(grad) whenever the gradient is computed; returns a handle."""
    return _C._register_hook(self, hook)


def _refuse_deletion(self):
    raise RuntimeError("_backward_hooks cannot be deleted; set them to None")


Tensor._backward_hooks = property(_C._get_backward_hooks, _C._set_backward_hooks, _refuse_deletion,
                                  doc="The functions of register_hook by id, or None.")


@_method
def register_post_accumulate_grad_hook(self, hook):
    """Calls hook(tensor) after .grad of a leaf was updated; returns a handle."""
    return _C._register_post_accumulate_grad_hook(self, hook)


# ---- copies

@_method
def __deepcopy__(self, memo):
    if not self.is_leaf:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the "
                           "deepcopy protocol at the moment.")
    if id(self) in memo:
        return memo[id(self)]
    from copy import deepcopy  # already loaded by the caller

    from foregrad.storage import storage_of, tensor_over

    data = tensor_over(deepcopy(storage_of(self), memo), self.dtype, self.storage_offset(),
                       self.shape, self.stride())
    result = data if type(self) is Tensor else _C._make_subclass(type(self), data, False)
    if self.requires_grad:
        result.requires_grad_()
    memo[id(self)] = result
    if self.grad is not None:
        result.grad = deepcopy(self.grad, memo)
    result.__dict__.update(deepcopy(self.__dict__, memo))
    return result


@_method
def __copy__(self):
    """A leaf over the same memory, with the same attributes."""
    result = _C._make_subclass(type(self), self, self.requires_grad)
    result.__dict__.update(self.__dict__)
    return result


def _rebuild(cls, data, dtype, shape, requires_grad, state, strides=None):
    """A tensor as older pickles have it: with its own bytes."""
    result = _C._from_bytes(data, dtype, shape)
    if strides is not None and strides != result.stride():
        result = _functions.empty_strided(shape, strides, dtype=dtype).copy_(result)
    if cls is not Tensor:
        result = _C._make_subclass(cls, result, False)
    if requires_grad:
        result.requires_grad_()
    result.__dict__.update(state)
    return result


def _rebuild_over(cls, storage, dtype, offset, shape, strides, requires_grad):
    """A tensor over pickled memory, which other tensors of the pickle may share."""
    from foregrad.storage import tensor_over

    result = tensor_over(storage, dtype, offset, shape, strides)
    if cls is not Tensor:
        return _C._make_subclass(cls, result, requires_grad)
    return result.requires_grad_() if requires_grad else result


@_method
def __reduce_ex__(self, protocol):
    from foregrad.storage import storage_of

    return _rebuild_over, (type(self), storage_of(self), self.dtype, self.storage_offset(),
                           tuple(self.shape), self.stride(), self.requires_grad), \
        dict(self.__dict__) or None


# ---- the rest of PyTorch's spellings

@_method
def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
    from foregrad._creation import norm as call

    return call(self, p, dim, keepdim, dtype=dtype)


@_method
def __rdiv__(self, other):
    return self.reciprocal() * other


@_method
def apply_(self, function):
    """Replaces every element by function(element)."""
    with_grad = self.requires_grad
    if with_grad:
        raise TypeError("apply_() is only implemented on tensors without grad")
    flat = [function(x) for x in self.flatten().tolist()]
    self.copy_(_C._tensor_from_data(flat, self.dtype).reshape(self.shape))
    return self


def _inplace_view(name):
    def call(self, *args, **kwargs):
        _C._become_view(self, getattr(self, name)(*args, **kwargs), name)
        return self

    call.__name__ = name + "_"
    call.__doc__ = f"As {name}, of the tensor itself."
    setattr(Tensor, name + "_", call)


for _name in ("t", "transpose", "swapaxes", "swapdims", "squeeze", "unsqueeze", "as_strided"):
    _inplace_view(_name)


@_method
def narrow(self, dim, start, length):
    """`length` elements of one dimension, from `start` on."""
    from foregrad._creation import narrow as call

    return call(self, dim, start, length)


@_method
def bernoulli_(self, p=0.5, *, generator=None):
    """Draws ones with the chance p, a number or a tensor, and zeros."""
    return _functions.bernoulli_(self, p, generator=generator)


@_method
def nonzero(self, *, as_tuple=False):
    """Positions of the elements that are not zero."""
    return _functions.nonzero_numpy(self) if as_tuple else _functions.nonzero(self)



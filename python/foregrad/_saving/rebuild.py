"""Makers of tensors and of what describes them, under the names that files of PyTorch have.

Each checks its arguments, for they come from a file.
"""

from __future__ import annotations

from collections import OrderedDict

from foregrad import _C
from foregrad import _types as types
from foregrad.nn.parameter import Buffer, Parameter
from foregrad.storage import TypedStorage, UntypedStorage, tensor_over

OWN_TENSORS = (_C.Tensor, Parameter, Buffer)


def expect(value, kind, name):
    """The value, if it is exactly of a kind."""
    if type(value) is not kind:
        raise TypeError(f"{name} is a {type(value).__name__}; expected {kind.__name__}")
    return value


def _geometry(offset, size, stride):
    if type(size) not in (tuple, _C.Size) or type(stride) is not tuple:
        raise TypeError(f"size and stride are {type(size).__name__} and {type(stride).__name__}; "
                        "expected tuples")
    return offset, size, stride


def _no_hooks(hooks):
    if hooks:
        raise ValueError("the tensor has hooks, which files do not keep")


def _rebuild_tensor(storage, storage_offset, size, stride):
    """A tensor over typed memory."""
    expect(storage, TypedStorage, "the storage")
    return tensor_over(storage._untyped_storage, storage.dtype,
                       *_geometry(storage_offset, size, stride))


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks,
                       metadata=None):
    """The same, which may require grad."""
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    return _finished(tensor, requires_grad, backward_hooks, metadata)


def _rebuild_tensor_v3(storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype,
                       metadata=None):
    """A tensor over memory that other dtypes share."""
    expect(storage, UntypedStorage, "the storage")
    expect(dtype, types.dtype, "the dtype")
    tensor = tensor_over(storage, dtype, *_geometry(storage_offset, size, stride))
    return _finished(tensor, requires_grad, backward_hooks, metadata)


def _finished(tensor, requires_grad, hooks, metadata):
    _no_hooks(hooks)
    if metadata:
        raise ValueError(f"the tensor has the properties {metadata!r}, which do not exist here")
    expect(requires_grad, bool, "requires_grad")
    return tensor.requires_grad_() if requires_grad else tensor


def _rebuild_parameter(data, requires_grad, backward_hooks):
    """A parameter over the memory of a tensor."""
    expect(data, _C.Tensor, "the data of the parameter")
    expect(requires_grad, bool, "requires_grad")
    _no_hooks(backward_hooks)
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    """A parameter with attributes."""
    return set_attributes(_rebuild_parameter(data, requires_grad, backward_hooks), state)


def _rebuild_from_type_v2(func, new_type, args, state):
    """A tensor with attributes, or of a class of its own."""
    if func not in (_rebuild_tensor, _rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_parameter):
        raise TypeError(f"{func!r} makes no tensor")
    made = func(*expect(args, tuple, "the arguments"))
    if new_type is _C.Tensor and isinstance(state, dict) and "_is_buffer" in state:
        state = {key: value for key, value in state.items() if key != "_is_buffer"}
        new_type = Buffer
    if not isinstance(new_type, type) or not issubclass(new_type, _C.Tensor):
        raise TypeError(f"{new_type!r} is no class of tensors")
    if type(made) is not new_type:
        made = _C._make_subclass(new_type, made, made.requires_grad)
    if new_type not in OWN_TENSORS and hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return made
    return set_attributes(made, state)


def set_attributes(target, state):
    """Gives an object the attributes of a file; none may hide one of its class."""
    parts = state if type(state) is tuple and len(state) == 2 else (state,)
    for part in parts:
        if part is None:
            continue
        if not isinstance(part, dict):
            raise TypeError(f"the attributes are a {type(part).__name__}; expected a dictionary")
        for name, value in part.items():
            if type(name) is not str or hasattr(type(target), name):
                raise ValueError(f"the file sets the attribute {name!r}, which {type(target)} has "
                                 "for itself" if type(name) is str else
                                 f"the name of an attribute is {name!r}; expected a text")
            target.__dict__[name] = value
    return target


def _rebuild(cls, memory, dtype, offset, shape, strides, requires_grad):
    """A tensor over memory of a safetensors file: as files of save() had them first."""
    if not (isinstance(cls, type) and issubclass(cls, _C.Tensor)):
        raise TypeError(f"{cls!r} is no class of tensors")
    if not isinstance(memory, _C.Tensor):
        raise TypeError(f"the memory is a {type(memory).__name__}; expected a tensor")
    from foregrad.storage import storage_of

    expect(dtype, types.dtype, "the dtype")
    data = tensor_over(storage_of(memory), dtype, *_geometry(offset, shape, strides))
    if cls is not _C.Tensor:
        return _C._make_subclass(cls, data, expect(requires_grad, bool, "requires_grad"))
    return data.requires_grad_(expect(requires_grad, bool, "requires_grad"))


_rebuild.__module__ = "foregrad.serialization"  # its name in files


def _get_layout(name):
    """The layout of a name."""
    if name not in ("torch.strided", "foregrad.strided"):
        raise ValueError(f"the layout is {name!r}; only strided exists here")
    return types.strided


def _size(sizes=()):
    if type(sizes) not in (tuple, list) or any(type(n) is not int for n in sizes):
        raise TypeError(f"the sizes are {sizes!r}; expected integers")
    return _C.Size(sizes)


def _device(kind, index=None):
    return types.device(expect(kind, str, "the device"), index)


def _generator(state):
    """A generator that goes on from a state."""
    made = _C.Generator()
    made.set_state(state)
    return made


def empty_hooks():
    """The place of a tensor's hooks in a file, which keeps none."""
    return OrderedDict()

"""Tensors that are parameters of a model, and those whose sizes are not known yet."""

from __future__ import annotations

from foregrad import _C
from foregrad.nn._uninitialized import UninitializedTensorMixin, is_lazy

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from typing import Any
    from typing_extensions import Self

    _Device = str | _device | None

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter",
           "UninitializedTensorMixin", "is_lazy"]


def _check(data, who):
    if not isinstance(data, _C.Tensor):
        raise TypeError(f"{who}: the data must be a Tensor, not {type(data).__name__}")


class Parameter(_C.Tensor):
    """A tensor that requires grad and is a parameter of a model."""

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Self:
        if data is None:
            data = _C._functions.empty((0,))
        _check(data, "Parameter")
        return _C._make_subclass(cls, data, requires_grad)

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()


class Buffer(_C.Tensor):
    """A tensor that belongs to a model and is no parameter."""

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Self:
        if data is None:
            data = _C._functions.empty((0,))
        _check(data, "Buffer")
        buffer = _C._make_subclass(cls, data, data.requires_grad)
        buffer.persistent = persistent
        return buffer


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose sizes come later, by materialize()."""

    cls_to_become: Any = Parameter

    def __new__(cls, requires_grad: bool = True, device: _Device = None,
                dtype: _dtype | None = None) -> Self:
        data = _C._functions.empty((0,), device=device, dtype=dtype)
        return _C._make_subclass(cls, data, requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Buffer):
    """A buffer whose sizes come later, by materialize()."""

    cls_to_become: Any = Buffer

    def __new__(cls, requires_grad: bool = False, device: _Device = None,
                dtype: _dtype | None = None, persistent: bool = True) -> Self:
        data = _C._functions.empty((0,), device=device, dtype=dtype)
        made = _C._make_subclass(cls, data, requires_grad)
        made.persistent = persistent
        return made

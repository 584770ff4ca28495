"""Tensors that are parameters of a model."""

from __future__ import annotations

from foregrad import _C

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from typing_extensions import Self

__all__ = ["Buffer", "Parameter"]


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

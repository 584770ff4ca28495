"""Tensors that are parameters of a model."""

from typing_extensions import Self

from foregrad import Tensor

class Parameter(Tensor):
    """A tensor that requires grad and is a parameter of a model."""

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Self: ...

class Buffer(Tensor):
    """A tensor that belongs to a model and is no parameter."""

    persistent: bool
    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Self: ...

"""Custom differentiable functions, running inside the C++ engine."""
# Written by hand: a context is the native node, whose methods no source has.

from collections.abc import Callable
from typing import Any, TypeVar

from foregrad import Tensor
from foregrad.autograd.graph import Node

__all__ = ["Function", "FunctionCtx", "once_differentiable", "InplaceFunction"]

_Backward = TypeVar("_Backward", bound=Callable[..., Any])

class FunctionCtx(Node):
    """The context that forward and backward share: the node itself. It takes any attribute."""

    needs_input_grad: tuple[bool, ...]
    materialize_grads: bool
    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """The tensors that save_for_backward kept."""
    @property
    def saved_variables(self) -> tuple[Tensor, ...]: ...
    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors, or None, for backward: read them as ctx.saved_tensors."""
    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Kept for jvp, which is not here yet."""
    def mark_dirty(self, *args: Tensor) -> None:
        """Names inputs that forward changed in place; it must return them."""
    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Names outputs that have no gradient."""
    def mark_shared_storage(self, *pairs: Any) -> None:
        """Does nothing, as in PyTorch."""
    def set_materialize_grads(self, value: bool, /) -> None:
        """False: an output without a gradient gives None instead of zeros."""
    def maybe_clear_saved_tensors(self) -> None:
        """Frees what was saved, unless the graph is kept."""
    def apply(self, *grads: Tensor | None) -> Any:
        """Runs backward; the engine calls it."""
    def apply_boxed(self, grads: list[Tensor | None]) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...

class FunctionMeta(type):
    """Gives every Function the class of its nodes."""

class Function(metaclass=FunctionMeta):
    """A differentiable function: override forward and backward as static methods, call apply."""

    clear_saved_tensors_on_access: bool
    boxed_grads_call: bool
    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls forward and records one node."""
    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """forward(ctx, *args), or forward(*args) together with setup_context."""
    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Sets up ctx when forward does not take it."""
    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """One gradient per argument of forward, from one per output."""
    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name of backward."""
    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any: ...

class InplaceFunction(Function):
    """A Function with a flag that says that it works in place."""

    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...

def once_differentiable(backward: _Backward) -> _Backward:
    """Marks a backward that cannot be differentiated again."""

"""Questions about classes that override functions, as PyTorch's __torch_function__ does: it is not
called here, so that none does."""

from __future__ import annotations

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["has_torch_function", "has_torch_function_unary", "has_torch_function_variadic",
           "is_tensor_like", "is_tensor_method_or_property", "resolve_name"]


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments takes the call: no."""
    return False


def has_torch_function_unary(obj: Any) -> bool:
    """Whether an argument takes the call: no."""
    return False


def has_torch_function_variadic(*args: Any) -> bool:
    """Whether one of the arguments takes the call: no."""
    return False


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor, or stands for one."""
    from foregrad import _C

    return isinstance(inp, _C.Tensor) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether a function is a method or property of Tensor."""
    from foregrad import _C

    found = [getattr(value, "__get__", None) if isinstance(value, property) else value
             for value in vars(_C.Tensor).values()]
    return func in found or getattr(func, "__name__", "") == "__get__"


def resolve_name(f: Any) -> str | None:
    """The name of a function as a program spells it."""
    module, name = getattr(f, "__module__", None), getattr(f, "__qualname__", None)
    if name is None:
        return None
    return f"{module or 'foregrad'}.{name}"

"""Captured functions: compile(), and what it is made of."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

_P = ParamSpec("_P")
_R = TypeVar("_R")

__all__ = ["CaptureError", "Compiled", "compile", "counters"]

class CaptureError(RuntimeError): ...

class Counters:
    captured: int
    calls: int
    eager: int
    reasons: dict[str, int]

counters: Counters

class Compiled:
    function: Callable[..., Any]
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

@overload
def compile(model: Callable[_P, _R], *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: Any = None, mode: str | None = None, options: dict[str, Any] | None = None,
            disable: bool = False) -> Callable[_P, _R]: ...
@overload
def compile(model: None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: Any = None, mode: str | None = None, options: dict[str, Any] | None = None,
            disable: bool = False) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...

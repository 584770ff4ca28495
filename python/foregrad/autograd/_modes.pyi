"""Grad modes as context managers and decorators, of functions and generators."""
# Written by hand: classes that are decorators too have two results of __new__, which needs type: ignore.

from collections.abc import Callable
from typing import Any, TypeVar, overload

from typing_extensions import Self

_Function = TypeVar("_Function", bound=Callable[..., Any])

class _Mode:
    def clone(self) -> Self: ...
    def __call__(self, function: _Function) -> _Function: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...

class no_grad(_Mode):
    """Nothing is recorded inside."""

    enabled: bool
    @overload
    def __new__(cls, function: None = None) -> Self: ...
    @overload
    def __new__(cls, function: _Function) -> _Function: ...  # type: ignore[misc]

class enable_grad(_Mode):
    """Calls are recorded inside, even within no_grad."""

    enabled: bool
    @overload
    def __new__(cls, function: None = None) -> Self: ...
    @overload
    def __new__(cls, function: _Function) -> _Function: ...  # type: ignore[misc]

class set_grad_enabled(_Mode):
    """Sets grad mode now; as a context manager, until its end."""

    mode: bool
    def __init__(self, mode: bool) -> None: ...

class inference_mode(_Mode):
    """Nothing is recorded, and new tensors carry no version counter."""

    mode: bool
    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: _Function) -> _Function: ...  # type: ignore[misc]

"""Marks for NVIDIA's profilers, which need CUDA: profiler.record_function marks blocks here."""

from __future__ import annotations

import contextlib

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def _refuse(name):
    raise RuntimeError(f"nvtx.{name}: NVTX functions not installed, as Foregrad is not compiled "
                       "with CUDA enabled; use profiler.record_function")


def range_push(msg: str) -> NoReturn:
    """Begins a nested block."""
    _refuse("range_push")


def range_pop() -> NoReturn:
    """Ends the innermost block."""
    _refuse("range_pop")


def range_start(msg: str) -> NoReturn:
    """Begins a block that another thread may end."""
    _refuse("range_start")


def range_end(range_id: int) -> NoReturn:
    """Ends such a block."""
    _refuse("range_end")


def mark(msg: str) -> NoReturn:
    """Marks a moment."""
    _refuse("mark")


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A block as a context."""
    range_push(msg.format(*args, **kwargs))
    yield

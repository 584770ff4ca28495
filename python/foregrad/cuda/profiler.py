"""The profiler of CUDA, which is not here: foregrad.profiler measures the cpu."""

from __future__ import annotations

from foregrad._device import not_compiled

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["start", "stop"]


def start() -> NoReturn:
    """Begins to measure."""
    raise not_compiled("cuda.profiler.start", "cuda")


def stop() -> NoReturn:
    """Ends to measure."""
    raise not_compiled("cuda.profiler.stop", "cuda")

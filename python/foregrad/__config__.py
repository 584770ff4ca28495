"""How the library was built, as text."""

from __future__ import annotations

from foregrad import _C

__all__ = ["parallel_info", "show"]


def show() -> str:
    """The build in lines: the version, the instructions in use, what is not there."""
    return (f"Foregrad {_C.__version__} built with:\n  - C++ Version: 202002\n"
            f"  - CPU capability usage: {_C._level()}\n"
            "  - USE_CUDA=OFF, USE_MKL=OFF, USE_MPS=OFF\n")


def parallel_info() -> str:
    """The threads in lines."""
    import os

    return (f"Foregrad/Parallel:\n\tget_num_threads() : {_C.get_num_threads()}\n"
            f"\thardware_concurrency() : {os.cpu_count()}\n")

"""DistributedDataParallel, which needs processes that know each other."""

from __future__ import annotations

from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Refuses: there are no groups of processes in Python yet."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(f"DistributedDataParallel({type(module).__name__}): groups of "
                           "processes are not here; use the module itself, in one process")

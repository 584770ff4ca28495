"""DistributedDataParallel, which is not here yet."""

from __future__ import annotations

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel:
    """A module that several processes train together."""

    def __init__(self, module: Any, *args: Any, **options: Any) -> None:
        raise NotImplementedError("nn.parallel.DistributedDataParallel: training in several "
                                  "processes is not here yet; train the module itself")

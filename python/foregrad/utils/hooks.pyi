"""Handles of hooks."""

from collections import OrderedDict
from typing import Any

from typing_extensions import Self

class RemovableHandle:
    """Takes a hook out of its dictionary, by remove() or at the end of a with block."""

    id: int
    next_id: int
    def __init__(
        self, hooks_dict: OrderedDict[int, Any], *, extra_dict: Any = None
    ) -> None: ...
    def remove(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

"""Handles of hooks."""

from typing_extensions import Self

class RemovableHandle:
    """Takes a hook away again, by remove() or at the end of a with block."""

    def remove(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> bool: ...

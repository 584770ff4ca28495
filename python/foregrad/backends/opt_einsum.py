"""opt_einsum, which is not used: einsum() contracts from left to right."""

from __future__ import annotations

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any

__all__ = ["enabled", "get_opt_einsum", "is_available", "strategy"]

enabled: bool = False
strategy: str | None = None


def is_available() -> bool:
    """Whether it is used: no."""
    return False


def get_opt_einsum() -> Any:
    """The package: None."""
    return None

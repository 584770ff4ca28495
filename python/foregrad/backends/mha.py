"""The fast path of attention in evaluation, a setting of PyTorch: results here are the same."""

from __future__ import annotations

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_enabled = True


def get_fastpath_enabled() -> bool:
    """Whether it was asked for."""
    return _enabled


def set_fastpath_enabled(value: bool) -> None:
    """Asks for it, or not."""
    global _enabled
    _enabled = value

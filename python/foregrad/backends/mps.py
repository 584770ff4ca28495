"""MPS, which is not here."""

from __future__ import annotations

__all__ = ["is_available", "is_built", "is_macos13_or_newer", "is_macos_or_newer"]


def is_built() -> bool:
    """Whether the library was compiled for it: no."""
    return False


def is_available() -> bool:
    """Whether it can be used: no."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Whether this is such a macOS with MPS: no."""
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """Whether this is macOS 13 or newer with MPS: no."""
    return False

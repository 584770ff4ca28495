"""The cache as a whole; single functions are in foregrad.compiler."""

from __future__ import annotations

from foregrad import _C

__all__ = ["clear"]


def clear() -> None:
    """Removes all entries of this machine and of this process.

    Those of a remote server stay, as does the user's secret key, and functions that are compiled
    already stay compiled: foregrad.compiler.reset() forgets those.
    """
    _C.cache_clear()

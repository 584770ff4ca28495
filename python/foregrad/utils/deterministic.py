"""A setting of PyTorch's deterministic mode."""

from __future__ import annotations

__all__ = ["fill_uninitialized_memory"]

# Elements of empty() are whatever they are: no function here reads them.
fill_uninitialized_memory: bool = True

"""The instructions that kernels use."""

from __future__ import annotations

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """The level of instructions in PyTorch's words: DEFAULT, AVX2 or AVX512."""
    from foregrad import _C

    return {"v3": "AVX2", "v4": "AVX512"}.get(_C._level(), "DEFAULT")

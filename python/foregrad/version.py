"""The version of the package, and those of GPU libraries: none."""

from __future__ import annotations

from foregrad._C import __version__

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]

cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
debug: bool = False
git_version: str | None = None

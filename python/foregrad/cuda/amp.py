"""The old names of foregrad.amp for CUDA, with PyTorch's warning."""

from __future__ import annotations

import warnings

from foregrad import amp as _amp

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
    from foregrad import dtype as _dtype

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def _warn(name):
    warnings.warn(f"`foregrad.cuda.amp.{name}(args...)` is deprecated. Please use "
                  f"`foregrad.amp.{name}('cuda', args...)` instead.", FutureWarning, stacklevel=3)


class autocast(_amp.autocast):
    """foregrad.autocast("cuda", ...)."""

    def __init__(self, enabled: bool = True, dtype: _dtype | None = None,
                 cache_enabled: bool = True) -> None:
        _warn("autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(_amp.GradScaler):
    """foregrad.amp.GradScaler("cuda", ...)."""

    def __init__(self, init_scale: float = 65536.0, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000,
                 enabled: bool = True) -> None:
        _warn("GradScaler")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval,
                         enabled)


def custom_fwd(fwd: Callable[..., Any] | None = None, **options: Any) -> Any:
    """foregrad.amp.custom_fwd(..., device_type="cuda")."""
    _warn("custom_fwd")
    return _amp.custom_fwd(fwd, device_type="cuda", **options)


def custom_bwd(bwd: Callable[..., Any]) -> Any:
    """foregrad.amp.custom_bwd(..., device_type="cuda")."""
    _warn("custom_bwd")
    return _amp.custom_bwd(bwd, device_type="cuda")

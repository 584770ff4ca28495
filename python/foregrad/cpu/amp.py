"""The old names of foregrad.amp for the cpu, with PyTorch's warning."""

from __future__ import annotations

import warnings

from foregrad import amp as _amp

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import dtype as _dtype

__all__ = ["GradScaler", "autocast"]


def _warn(name):
    warnings.warn(f"`foregrad.cpu.amp.{name}(args...)` is deprecated. Please use "
                  f"`foregrad.amp.{name}('cpu', args...)` instead.", FutureWarning, stacklevel=3)


class autocast(_amp.autocast):
    """foregrad.autocast("cpu", ...)."""

    def __init__(self, enabled: bool = True, dtype: _dtype | None = None,
                 cache_enabled: bool = True) -> None:
        _warn("autocast")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(_amp.GradScaler):
    """foregrad.amp.GradScaler("cpu", ...)."""

    def __init__(self, init_scale: float = 65536.0, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000,
                 enabled: bool = True) -> None:
        _warn("GradScaler")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)

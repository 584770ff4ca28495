"""autocast: products in a shorter dtype. It is not here yet for the cpu, so that a context that
would change results says so; one that changes nothing is a context that does nothing."""

from __future__ import annotations

import functools
import warnings

from foregrad import _types as types
from foregrad._device import KINDS

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
    from typing_extensions import Self
    from foregrad import dtype as _dtype

__all__ = ["autocast", "clear_autocast_cache", "custom_bwd", "custom_fwd", "get_autocast_cpu_dtype",
           "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_available",
           "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled",
           "set_autocast_cache_enabled", "set_autocast_dtype", "set_autocast_enabled"]

_SHORT = (types.bfloat16, types.float16)
_dtypes = {"cpu": types.bfloat16, "xpu": types.bfloat16, "mtia": types.float16}
_cached = True


def _kind(device_type, who):
    if not isinstance(device_type, str):
        raise ValueError(f"{who}: Expected `device_type` of type `str`, got: `{type(device_type)}`")
    kind = device_type.partition(":")[0]
    if kind not in KINDS:
        raise RuntimeError(f"{who}: '{device_type}' does not exist; expected one of "
                           f"{', '.join(KINDS)}")
    return kind


def _refuse(dtype, who):
    raise NotImplementedError(
        f"{who}: autocast to {dtype} on the cpu is not here yet; use autocast(..., enabled=False), "
        f"or convert the model with .to({dtype})")


class autocast:
    """A context, or a decorator, in which products would run in a shorter dtype.

    For an accelerator it warns and does nothing, as there is none. Entering it for the cpu with
    bfloat16 or float16 is refused; with enabled=False, or another dtype, nothing changes.
    """

    def __init__(self, device_type: str, dtype: _dtype | None = None, enabled: bool = True,
                 cache_enabled: bool | None = None) -> None:
        self.device = _kind(device_type, "autocast")
        self.fast_dtype = get_autocast_dtype(self.device) if dtype is None else dtype
        if not isinstance(self.fast_dtype, types.dtype):
            raise TypeError(f"autocast: dtype must be a dtype, not {type(dtype).__name__}")
        self._cache_enabled = _cached if cache_enabled is None else cache_enabled
        self._enabled = bool(enabled)
        if enabled and self.device != "cpu":
            warnings.warn(f"{self.device.upper()} is not available. Disabling autocast.",
                          UserWarning, stacklevel=2)
            self._enabled = False
        elif enabled and self.fast_dtype not in _SHORT:
            warnings.warn("In CPU autocast, but the target dtype is not supported. Disabling "
                          "autocast.\nCPU Autocast only supports dtypes of "
                          f"{', '.join(map(str, _SHORT))} currently.", UserWarning, stacklevel=2)
            self._enabled = False

    def __enter__(self) -> Self:
        if self._enabled:
            _refuse(self.fast_dtype, "autocast")
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        if self._enabled:
            _refuse(self.fast_dtype, "autocast")
        return func


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast does its work on a device: not yet."""
    _kind(device_type, "is_autocast_available")
    return False


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether the innermost context works: never, as entering such a one is refused."""
    _kind(device_type, "is_autocast_enabled")
    return False


def is_autocast_cpu_enabled() -> bool:
    """The old name of is_autocast_enabled('cpu')."""
    _warn_of_old_name("is_autocast_cpu_enabled", "is_autocast_enabled('cpu')")
    return False


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Enables autocast without a context, which is not here yet; disabling it changes nothing."""
    if isinstance(device_type, bool):
        device_type, enabled = "cuda", device_type
    if enabled:
        _refuse(get_autocast_dtype(_kind(device_type, "set_autocast_enabled")),
                "set_autocast_enabled")


def get_autocast_dtype(device_type: str) -> _dtype:
    """The dtype that autocast of a device has where a program names none."""
    return _dtypes.get(_kind(device_type, "get_autocast_dtype"), types.float16)


def set_autocast_dtype(device_type: str, dtype: _dtype) -> None:
    """Sets that dtype."""
    _dtypes[_kind(device_type, "set_autocast_dtype")] = dtype


def get_autocast_cpu_dtype() -> _dtype:
    """The old name of get_autocast_dtype('cpu')."""
    _warn_of_old_name("get_autocast_cpu_dtype", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> _dtype:
    """The old name of get_autocast_dtype('cuda')."""
    _warn_of_old_name("get_autocast_gpu_dtype", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def _warn_of_old_name(old, new):
    warnings.warn(f"foregrad.{old}() is deprecated. Please use foregrad.{new} instead.",
                  DeprecationWarning, stacklevel=3)


def is_autocast_cache_enabled() -> bool:
    """Whether converted weights would be kept within a context."""
    return _cached


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Sets whether they would be kept."""
    global _cached
    _cached = bool(enabled)


def clear_autocast_cache() -> None:
    """Forgets converted weights: there are none."""


def custom_fwd(fwd: Callable[..., Any] | None = None, *, device_type: str,
               cast_inputs: _dtype | None = None) -> Any:
    """Decorates the forward of a Function for autocast: it runs as it is, as autocast is off."""
    _kind(device_type, "custom_fwd")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        args[0]._dtype, args[0]._fwd_used_autocast = get_autocast_dtype(device_type), False
        return fwd(*args, **kwargs)

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorates the backward of a Function whose forward has custom_fwd."""
    _kind(device_type, "custom_bwd")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)
    return bwd

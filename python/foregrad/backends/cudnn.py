"""cuDNN, which is not here: its settings are kept and change nothing."""

from __future__ import annotations

from foregrad.backends._flags import Precision, changed

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from foregrad import Tensor

enabled: bool = True
benchmark: bool = False
benchmark_limit: int | None = None
deterministic: bool = False
allow_tf32: bool = True
fp32_precision: str = "none"
conv = Precision()
rnn = Precision()

__all__ = ["allow_tf32", "benchmark", "benchmark_limit", "deterministic", "enabled", "flags",
           "fp32_precision", "is_acceptable", "is_available", "set_flags", "version"]


def is_available() -> bool:
    """Whether cuDNN is here: no."""
    return False


def version() -> int | None:
    """The version of cuDNN: None."""
    return None


def is_acceptable(tensor: Tensor) -> bool:
    """Whether cuDNN would take a tensor: no."""
    return False


def set_flags(_enabled: bool | None = None, _benchmark: bool | None = None,
              _benchmark_limit: int | None = None, _deterministic: bool | None = None,
              _allow_tf32: bool | None = None, _fp32_precision: str = "none") -> tuple[object, ...]:
    """Sets several at once; returns those before."""
    names = globals()
    wanted = {"enabled": _enabled, "benchmark": _benchmark, "benchmark_limit": _benchmark_limit,
              "deterministic": _deterministic, "allow_tf32": _allow_tf32,
              "fp32_precision": _fp32_precision}
    before = tuple(names[name] for name in wanted)
    names.update({name: value for name, value in wanted.items() if value is not None})
    return before


def flags(enabled: bool = False, benchmark: bool = False, benchmark_limit: int = 10,
          deterministic: bool = False, allow_tf32: bool = True,
          fp32_precision: str = "none") -> AbstractContextManager[None]:
    """Sets them for a while."""
    return changed(globals(), {
        "enabled": enabled, "benchmark": benchmark, "benchmark_limit": benchmark_limit,
        "deterministic": deterministic, "allow_tf32": allow_tf32, "fp32_precision": fp32_precision})

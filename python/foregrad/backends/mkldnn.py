"""oneDNN, which some convolutions use."""

from __future__ import annotations

from foregrad.backends._flags import Precision, changed

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

enabled: bool = True
deterministic: bool = False
allow_tf32: bool | None = None
fp32_precision: str = "none"
conv = Precision()
matmul = Precision()
rnn = Precision()
VERBOSE_OFF: int = 0
VERBOSE_ON: int = 1
VERBOSE_ON_CREATION: int = 2

__all__ = ["VERBOSE_OFF", "VERBOSE_ON", "VERBOSE_ON_CREATION", "allow_tf32", "deterministic",
           "enabled", "flags", "fp32_precision", "is_available", "verbose"]


def is_available() -> bool:
    """Whether the library lies beside the package."""
    import os

    return os.path.exists(os.path.join(os.path.dirname(__file__), "..", "libforegrad-onednn.so"))


class verbose:
    """A context in which oneDNN says what it does: its own variable ONEDNN_VERBOSE does that."""

    def __init__(self, level: int) -> None:
        if level != VERBOSE_OFF:
            raise NotImplementedError(f"mkldnn.verbose: level {level} cannot be set while a "
                                      "program runs; start it with ONEDNN_VERBOSE=1")

    def __enter__(self) -> verbose:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def flags(enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True,
          fp32_precision: str = "none") -> AbstractContextManager[None]:
    """Sets them for a while: which library computes is not a program's choice here, so that
    results do not change."""
    return changed(globals(), {"enabled": enabled, "deterministic": deterministic,
                               "allow_tf32": allow_tf32, "fp32_precision": fp32_precision})

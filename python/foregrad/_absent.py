"""Parts that the modules of accelerators share: questions have answers, work is refused."""

from __future__ import annotations

from collections import OrderedDict

from foregrad._device import _device, not_compiled


TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Selected"]


def refusing(kind, *names):
    """Functions of these names that need the accelerator."""
    return {name: _refusal(kind, name) for name in names}


def _refusal(kind, name):
    def refuse(*args, **kwargs):
        raise not_compiled(f"{kind}.{name}", kind)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__ = f"foregrad.{kind}"
    refuse.__doc__ = f"Needs {kind.upper()}, which is not here, and says so."
    return refuse


def refusing_class(kind, name):
    """A class whose objects need the accelerator."""
    def refuse(cls, *args, **kwargs):
        raise not_compiled(f"{kind}.{name}", kind)

    return type(name, (), {"__new__": refuse, "__module__": f"foregrad.{kind}",
                           "__doc__": f"Needs {kind.upper()}, which is not here, and says so."})


class Selected:
    """A context that selects one accelerator by its number; a negative one or None is none."""

    idx: int

    kind = "cuda"

    def __init__(self, device: Any) -> None:
        if device is None or isinstance(device, int):
            self.idx = -1 if device is None else device
        else:
            found = _device(device)
            if found.type not in (self.kind, "cpu"):
                raise ValueError(f"Expected a {self.kind} device, but got: {found}")
            # A name without a number means the current one, of which there is none either.
            self.idx = -1 if found.type == "cpu" else found.index or 0

    def __enter__(self) -> None:
        if self.idx >= 0:
            raise not_compiled(f"with {self.kind}.device({self.idx})", self.kind)

    def __exit__(self, *error: object) -> None:
        return None


def no_statistics() -> OrderedDict[str, int]:
    """Statistics of memory by name: none."""
    return OrderedDict()

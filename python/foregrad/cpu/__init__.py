"""The cpu as a device: the only one."""

from __future__ import annotations

import contextlib

from foregrad._streams import Event as _Event
from foregrad._streams import Stream as _Stream
from foregrad.cpu import amp

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any
    from foregrad import device as _device

    _Place = _device | str | int | None

__all__ = ["Event", "Stream", "amp", "current_device", "current_stream", "device_count",
           "is_available", "is_initialized", "set_device", "stream", "synchronize"]


class Stream(_Stream):
    """A queue of work: on the cpu work is done at once."""

    def __init__(self, priority: int = -1) -> None:
        super().__init__("cpu")


class Event(_Event):
    """A moment that a program records."""

    def __init__(self, enable_timing: bool = False) -> None:
        super().__init__("cpu", enable_timing=enable_timing)


_current = Stream()


def is_available() -> bool:
    """Whether the cpu can be used: yes."""
    return True


def is_initialized() -> bool:
    """Whether the cpu was started: yes."""
    return True


def device_count() -> int:
    """The number of cpus as devices: one, whatever the number of its cores."""
    return 1


def current_device() -> str:
    """The name of the device."""
    return "cpu"


def set_device(device: _Place) -> None:
    """Does nothing: there is one."""


def synchronize(device: _Place = None) -> None:
    """Waits for all work, which is done."""


def current_stream(device: _Place = None) -> Stream:
    """The stream of all work."""
    return _current


@contextlib.contextmanager
def stream(stream: Any) -> Iterator[Any]:
    """Selects a stream, which changes nothing."""
    yield stream

"""Streams and events of the cpu, where every call is finished when it returns."""

from __future__ import annotations

import time

from foregrad._device import _device, expect_cpu

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any
    from typing_extensions import Self


class Stream:
    """A queue of work: on the cpu work is done at once."""

    def __init__(self, device: Any = None, *, priority: int = 0, **ids: int) -> None:
        self.device = _device("cpu" if device is None else device)
        expect_cpu(self.device, "Stream")
        self.device_index, self.device_type = -1, 1
        self.stream_id = ids.get("stream_id", 0)

    def query(self) -> bool:
        """Whether all work is done: yes."""
        return True

    def synchronize(self) -> None:
        """Waits for the work, which is done."""

    def wait_event(self, event: Event) -> None:
        """Waits for an event, which is over."""

    def wait_stream(self, stream: Stream) -> None:
        """Waits for another stream, which has no work left."""

    def record_event(self, event: Event | None = None) -> Event:
        """Marks this moment."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __repr__(self) -> str:
        return f"foregrad.Stream device_type=cpu, device_index=-1, stream_id={self.stream_id}"


class Event:
    """A moment: recorded by a program, and measured from one to the next."""

    def __init__(self, device: Any = None, *, enable_timing: bool = False,
                 blocking: bool = False, interprocess: bool = False) -> None:
        self.device = _device("cpu" if device is None else device)
        expect_cpu(self.device, "Event")
        if interprocess:
            raise RuntimeError("Event: interprocess is True; events of the cpu are of one process")
        self._timed, self._at = enable_timing, None

    def record(self, stream: Stream | None = None) -> None:
        """Marks this moment."""
        self._at = time.perf_counter_ns()

    def query(self) -> bool:
        """Whether the work before it is done: yes."""
        return True

    def wait(self, stream: Stream | None = None) -> None:
        """Waits for the event, which is over."""

    def synchronize(self) -> None:
        """Waits for the event, which is over."""

    def elapsed_time(self, other: Event) -> float:
        """Milliseconds from this event to the other."""
        if not self._timed or not other._timed:
            raise RuntimeError("elapsed_time: make both events with enable_timing=True")
        if self._at is None or other._at is None:
            raise RuntimeError("elapsed_time: both events must be recorded before")
        return (other._at - self._at) / 1e6

    def __repr__(self) -> str:
        return "foregrad.Event device_type=cpu, device_index=-1"

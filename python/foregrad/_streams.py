"""Streams and events of the cpu, where every call is finished when it returns."""

import time

from foregrad._device import _device, expect_cpu


class Stream:
    """A queue of work: on the cpu work is done at once."""

    def __init__(self, device=None, *, priority=0, **ids):
        self.device = _device("cpu" if device is None else device)
        expect_cpu(self.device, "Stream")
        self.device_index, self.device_type = -1, 1
        self.stream_id = ids.get("stream_id", 0)

    def query(self):
        """Whether all work is done: yes."""
        return True

    def synchronize(self):
        """Waits for the work, which is done."""

    def wait_event(self, event):
        """Waits for an event, which is over."""

    def wait_stream(self, stream):
        """Waits for another stream, which has no work left."""

    def record_event(self, event=None):
        """Marks this moment."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def __repr__(self):
        return f"foregrad.Stream device_type=cpu, device_index=-1, stream_id={self.stream_id}"


class Event:
    """A moment: recorded by a program, and measured from one to the next."""

    def __init__(self, device=None, *, enable_timing=False, blocking=False, interprocess=False):
        self.device = _device("cpu" if device is None else device)
        expect_cpu(self.device, "Event")
        if interprocess:
            raise RuntimeError("Event: interprocess is True; events of the cpu are of one process")
        self._timed, self._at = enable_timing, None

    def record(self, stream=None):
        """Marks this moment."""
        self._at = time.perf_counter_ns()

    def query(self):
        """Whether the work before it is done: yes."""
        return True

    def wait(self, stream=None):
        """Waits for the event, which is over."""

    def synchronize(self):
        """Waits for the event, which is over."""

    def elapsed_time(self, other):
        """Milliseconds from this event to the other."""
        if not self._timed or not other._timed:
            raise RuntimeError("elapsed_time: make both events with enable_timing=True")
        if self._at is None or other._at is None:
            raise RuntimeError("elapsed_time: both events must be recorded before")
        return (other._at - self._at) / 1e6

    def __repr__(self):
        return "foregrad.Event device_type=cpu, device_index=-1"

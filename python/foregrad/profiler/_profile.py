"""profile: a context that measures, in cycles of steps where a schedule is given."""

from __future__ import annotations

import json
import os
import socket
import time
import warnings

from foregrad import _C
from foregrad.profiler._actions import ProfilerAction, ProfilerActivity
from foregrad.profiler._events import EventList, tree_of
from foregrad.profiler._trace import write

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any
    from typing_extensions import Self

__all__ = ["profile", "tensorboard_trace_handler"]

_RECORDS = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def _check_activities(activities):
    """Warns of devices that are not here, and refuses a list without the cpu."""
    wanted = {ProfilerActivity.CPU} if activities is None else set(activities)
    strange = [one for one in wanted if not isinstance(one, ProfilerActivity)]
    if strange:
        raise TypeError(f"profile: activities holds {strange[0]!r}; expected ProfilerActivity.CPU")
    for one in wanted - {ProfilerActivity.CPU}:
        warnings.warn(f"{one.name} is not available, disabling {one.name} profiling", UserWarning,
                      stacklevel=4)
    if ProfilerActivity.CPU not in wanted:
        raise AssertionError("No valid profiler activities found")


def _refuse(**options):
    for name, value in options.items():
        if value:
            raise NotImplementedError(f"profile: {name} is {value!r}, which is not here; leave it "
                                      "out")


class profile:
    """Measures the calls of a block: functions, nodes of the backward, compiled code.

    With a schedule, step() ends a step, and on_trace_ready(profile) is called after each cycle.
    `with_modules` names modules of TorchScript only, as in PyTorch, so that it changes nothing.
    """

    def __init__(self, *, activities: Iterable[ProfilerActivity] | None = None,
                 schedule: Callable[[int], ProfilerAction] | None = None,
                 on_trace_ready: Callable[..., Any] | None = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, experimental_config: Any = None,
                 execution_trace_observer: Any = None, acc_events: bool = False,
                 use_cuda: bool | None = None, custom_trace_id_callback: Any = None,
                 post_processing_timeout_s: float | None = None) -> None:
        _check_activities(activities)
        _refuse(with_flops=with_flops, experimental_config=experimental_config,
                execution_trace_observer=execution_trace_observer,
                custom_trace_id_callback=custom_trace_id_callback)
        if use_cuda is not None:
            warnings.warn("`use_cuda` is deprecated, use `activities` argument instead",
                          FutureWarning, stacklevel=2)
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.with_stack, self.with_flops, self.with_modules = with_stack, with_flops, with_modules
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self._has_schedule, self._accumulates = schedule is not None, acc_events
        self.on_trace_ready = on_trace_ready
        self.step_num, self.current_action = 0, ProfilerAction.NONE
        self._events: Any = None
        self._metadata: dict[str, Any] = {}
        self._running, self._step = False, None

    # ---- the course of a measurement

    def start(self) -> None:
        """Begins, as the schedule says."""
        if self._running:
            raise RuntimeError("profiler: this profiler is already running")
        self._running = True
        self.current_action = self.schedule(self.step_num)
        if self.current_action in _RECORDS:
            self._record()
        self._enter_step()

    def stop(self) -> None:
        """Ends; what was recorded is ready."""
        if not self._running:
            raise AssertionError("Profiler must be initialized before stopping trace")
        self._leave_step()
        self._running = False
        if self.current_action in _RECORDS:
            self._take()
            self._report()
        self.current_action = ProfilerAction.NONE

    def step(self) -> None:
        """Ends a step, and begins the next."""
        if not self._running:
            raise AssertionError("Profiler must be initialized before step(); use it as a context, "
                                 "or call start()")
        self._leave_step()
        before, self.step_num = self.current_action, self.step_num + 1
        self.current_action = self.schedule(self.step_num)
        ends = before is ProfilerAction.RECORD_AND_SAVE or (
            before in _RECORDS and self.current_action not in _RECORDS)
        if ends:
            self._take()
            self._report()
        if self.current_action in _RECORDS and (ends or before not in _RECORDS):
            self._record()
        self._enter_step()

    def _record(self):
        _C._start_recording(self.record_shapes, self.with_stack, self.profile_memory)
        self._base = _C._now()

    def _take(self):
        made = tree_of(_C._stop_recording(), self._base)
        before = self._events if self._accumulates and self._events else ()
        self._events = EventList([*before, *made], self.profile_memory, False, False)

    def _report(self):
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _enter_step(self):
        """Marks the step as a block, where steps are counted."""
        if self._has_schedule and self.current_action in _RECORDS:
            self._step = _C.RecordedBlock(f"ProfilerStep#{self.step_num}")
            self._step.enter()

    def _leave_step(self):
        if self._step is not None:
            self._step.exit()
            self._step = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    # ---- results

    def _ready(self, what):
        if self._events is None:
            raise AssertionError(f"Profiler must be initialized before {what}")
        return self._events

    def events(self) -> Any:
        """All calls that were measured last."""
        return self._ready("getting events")

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> Any:
        """Their sums by name; `.table()` prints them."""
        if group_by_input_shape and not self.record_shapes:
            raise ValueError("key_averages: group_by_input_shape needs "
                             "profile(record_shapes=True)")
        if group_by_stack_n and not self.with_stack:
            raise ValueError("key_averages: group_by_stack_n needs profile(with_stack=True)")
        return self._ready("getting key averages").key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path: str) -> None:
        """Writes the calls for Chrome's trace viewer or Perfetto; compressed for a name in .gz."""
        write(path, self._ready("exporting trace"), self._metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes the stacks with a number each, for flame graphs."""
        if not self.with_stack:
            raise ValueError("export_stacks: it needs profile(with_stack=True)")
        self._ready("exporting stacks").export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Draws memory over time, which is not here."""
        _refuse(export_memory_timeline=path)

    def add_metadata(self, key: str, value: str) -> None:
        """Adds a text to the trace."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Adds a JSON value to the trace."""
        self._metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json

    @property
    def profiler(self) -> Self:
        """The object with the results: this one."""
        return self

    @property
    def function_events(self) -> Any:
        """The same as events()."""
        return self.events()


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None,
                              use_gzip: bool = False,
                              use_python_export: bool = False) -> Callable[[profile], None]:
    """For on_trace_ready: writes each trace to a folder, as TensorBoard's plugin reads it."""

    def handler(prof: profile) -> None:
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        os.makedirs(dir_name, exist_ok=True)
        ending = ".pt.trace.json.gz" if use_gzip else ".pt.trace.json"
        prof.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}{ending}"))

    return handler

"""Timer: runs a statement as often as good times need."""

from __future__ import annotations

import enum
import time
import timeit as _timeit

from foregrad import _C
from foregrad.utils.benchmark._measurement import Measurement, TaskSpec

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Language", "Timer", "timer"]

timer = time.perf_counter


class Language(enum.Enum):
    """The language of the statement."""

    PYTHON = 0
    CPP = 1


class Timer:
    """Measures a statement, with `num_threads` threads, after a first run that is not counted."""

    def __init__(self, stmt: str = "pass", setup: str = "pass", global_setup: str = "",
                 timer: Callable[[], float] = timer, globals: dict[str, Any] | None = None,
                 label: str | None = None, sub_label: str | None = None,
                 description: str | None = None, env: str | None = None, num_threads: int = 1,
                 language: Language | str = Language.PYTHON) -> None:
        if language not in (Language.PYTHON, "py", "python"):
            raise NotImplementedError(f"Timer: language is {language!r}; only Python is measured "
                                      "here")
        if global_setup:
            raise ValueError(f"global_setup is C++ only, got `{global_setup}`. Most likely this "
                             "code can simply be moved to `setup`.")
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        names = dict(globals or {})
        if "foregrad" not in names:
            import foregrad

            names["foregrad"] = foregrad
            names.setdefault("torch", foregrad)
        self._clock = timer
        self._timer = _timeit.Timer(stmt=_plain(stmt), setup=_plain(setup), timer=timer,
                                    globals=names)
        self._task_spec = TaskSpec(stmt=_plain(stmt), setup=_plain(setup), label=label,
                                   sub_label=sub_label, description=description, env=env,
                                   num_threads=num_threads)

    def _run(self, number):
        """Seconds of so many runs, at least a billionth."""
        before = _C.get_num_threads()
        _C.set_num_threads(self._task_spec.num_threads)
        try:
            return max(self._timer.timeit(number), 1e-9)
        finally:
            _C.set_num_threads(before)

    def _measurement(self, number, times):
        return Measurement(number, times, self._task_spec)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One measurement of so many runs, after a hundredth of them that is not counted."""
        self._run(max(int(number // 100), 2))
        return self._measurement(number, [self._run(number)])

    def _block_size(self, least):
        """Runs that take long enough together for the clock not to matter."""
        overhead = sorted(self._run(0) for _ in range(5))[2]
        number = 1
        while True:
            taken = self._run(number)
            if overhead / taken <= 1e-4 and taken >= least / 1000 or taken > least:
                return number
            number *= 10

    def blocked_autorange(self, callback: Callable[[int, float], Any] | None = None,
                          min_run_time: float = 0.2) -> Measurement:
        """Measurements of equal blocks, until they took `min_run_time` seconds."""
        number = self._block_size(min_run_time)
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
        return self._measurement(number, times)

    def adaptive_autorange(self, threshold: float = 0.1, *, min_run_time: float = 0.01,
                           max_run_time: float = 10.0,
                           callback: Callable[[int, float], Any] | None = None) -> Measurement:
        """Measurements of equal blocks, until they lie close enough together."""
        number = self._block_size(0.05)
        times: list[float] = []
        while sum(times) < max_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
            if len(times) >= 4 and sum(times) > min_run_time:
                made = self._measurement(number, times)
                if made.meets_confidence(threshold):
                    return made
        return self._measurement(number, times)

    def collect_callgrind(self, *args: Any, **options: Any) -> None:
        """Counts instructions with valgrind, which is not here."""
        raise NotImplementedError("Timer.collect_callgrind: instructions are not counted here; use "
                                  "blocked_autorange()")


def _plain(text):
    """Code without the indentation that its place in a program gave it."""
    import textwrap

    return textwrap.dedent(text).strip()

"""Measurement: the times of one statement, and their statistics."""

from __future__ import annotations

import dataclasses
import statistics

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["Measurement", "TaskSpec", "select_unit"]

_UNITS = (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0))
_LARGE_IQR = 0.1  # of the median: above, times are not to be relied on
_SMALLEST_TOTAL = 1e-4


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which a time in seconds is written, and its seconds."""
    return next((unit for unit in reversed(_UNITS) if t >= unit[1]), _UNITS[0])


@dataclasses.dataclass(frozen=True)
class TaskSpec:
    """The statement that was measured, and its names in tables."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        lines = "\n".join(f"  {line}" for line in self.stmt.strip().splitlines())
        sub = f": {self.sub_label}" if self.sub_label else ""
        return f"stmt:{sub}\n{lines}"

    def setup_str(self) -> str:
        """The setup for a report; nothing where there is none."""
        if not self.setup or self.setup == "pass":
            return ""
        lines = "\n".join(f"  {line}" for line in self.setup.strip().splitlines())
        return f"setup:\n{lines}"

    def summarize(self) -> str:
        """The title, the description and the setup."""
        parts = [self.title, self.description or "", self.setup_str()]
        return "\n".join(part for part in parts if part)


def _quantile(times, q):
    """Linear between the two nearest."""
    place = q * (len(times) - 1)
    low = int(place)
    high = min(low + 1, len(times) - 1)
    return times[low] + (times[high] - times[low]) * (place - low)


class Measurement:
    """Times of one statement: `raw_times` of `number_per_run` runs each, in seconds."""

    def __init__(self, number_per_run: int, raw_times: list[float], task_spec: TaskSpec,
                 metadata: dict[Any, Any] | None = None) -> None:
        self.number_per_run, self.raw_times = number_per_run, raw_times
        self.task_spec, self.metadata = task_spec, metadata

    def __getattr__(self, name: str) -> Any:
        names = ("stmt", "setup", "label", "sub_label", "description", "num_threads", "title")
        if name not in names:
            raise AttributeError(f"'Measurement' object has no attribute '{name}'")
        return getattr(self.task_spec, name)

    @property
    def times(self) -> list[float]:
        """Seconds of one run, for each measurement."""
        return [t / self.number_per_run for t in self.raw_times]

    def _sorted(self):
        if not self.raw_times:
            raise ValueError("Measurement: there are no times; run the timer first")
        return sorted(self.times)

    @property
    def median(self) -> float:
        """The median of the times."""
        return float(statistics.median(self._sorted()))

    @property
    def mean(self) -> float:
        """The mean of the times."""
        return statistics.fmean(self._sorted())

    @property
    def iqr(self) -> float:
        """The width of the middle half of the times."""
        times = self._sorted()
        return _quantile(times, 0.75) - _quantile(times, 0.25)

    @property
    def significant_figures(self) -> int:
        """The digits of the median that the spread leaves meaning."""
        import math

        times = self._sorted()
        spread = max(1.645 * self.iqr / 1.349 / math.sqrt(len(times)), 1e-13 * self.median)
        if spread == 0 or self.median == 0:
            return 6
        digits = math.floor(math.log10(self.median / spread)) + 1
        return max(min(digits, 6), 1)

    @property
    def has_warnings(self) -> bool:
        """Whether the spread is large."""
        return len(self.raw_times) > 1 and self.iqr / self.median > _LARGE_IQR

    def meets_confidence(self, threshold: float = _LARGE_IQR) -> bool:
        """Whether the middle half of the times lies close enough together."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """The title of the statement."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """The name of the environment that was measured."""
        return "Unspecified env" if self.task_spec.env is None else self.task_spec.env

    @property
    def as_row_name(self) -> str:
        """The name of its row in a table."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        count, threads = len(self.raw_times), self.task_spec.num_threads
        shown = f"{threads} thread{'s' if threads > 1 else ''}"
        lines = [f"{super().__repr__()}", self.task_spec.summarize()]
        if count == 1:
            lines += [f"  {self.median / scale:.2f} {unit}",
                      f"  1 measurement, {self.number_per_run} runs , {shown}"]
            return "\n".join(lines)
        times = self._sorted()
        low, high = (_quantile(times, q) / scale for q in (0.25, 0.75))
        lines += [f"  Median: {self.median / scale:.2f} {unit}",
                  f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})",
                  f"  {count} measurements, {self.number_per_run} runs per measurement, {shown}"]
        if self.has_warnings:
            lines.append(f"  WARNING: Interquartile range is {self.iqr / self.median:.1%} of the "
                         "median measurement.\n           This could indicate system fluctuation.")
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Measurements of equal statements as one, with all their times."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for each in measurements:
            groups.setdefault(each.task_spec, []).append(each)
        return [Measurement(1, [t for each in group for t in each.times], spec, {})
                for spec, group in groups.items()]

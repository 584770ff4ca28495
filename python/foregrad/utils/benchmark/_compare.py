"""Compare: measurements as tables, a row for each sub-label, a column for each description."""

from __future__ import annotations

from foregrad.utils.benchmark._measurement import Measurement, select_unit

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Compare"]

_LONG = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds"}
_GREEN, _YELLOW, _RED, _END = "\033[92m", "\033[93m", "\033[31m", "\033[0m"


class Compare:
    """Tables of measurements, one for each label."""

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trims = self._colours = self._warns = False
        self._by_row = True

    def extend_results(self, results: list[Measurement]) -> None:
        """Adds measurements."""
        for each in results:
            if not isinstance(each, Measurement):
                raise ValueError("Expected an instance of `Measurement`, got "
                                 f"{type(each)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Leaves out digits that the spread makes meaningless."""
        self._trims = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colours fast and slow times, by row or by column."""
        self._colours, self._by_row = True, rowwise

    def highlight_warnings(self) -> None:
        """Marks times of a large spread."""
        self._warns = True

    def print(self) -> None:
        """Prints the tables."""
        print(str(self))

    def __str__(self) -> str:
        groups: dict[Any, list[Measurement]] = {}
        for each in Measurement.merge(self._results):
            groups.setdefault(each.task_spec.label, []).append(each)
        return "\n".join(self._table(label, group) for label, group in groups.items())

    def _table(self, label, group):
        columns = list(dict.fromkeys(each.task_spec.description or "" for each in group))
        rows: dict[Any, dict[str, Measurement]] = {}
        for each in group:
            key = (each.task_spec.num_threads, each.env, each.as_row_name)
            rows.setdefault(key, {})[each.task_spec.description or ""] = each
        unit, scale = select_unit(min(each.median for each in group))
        texts = {key: [self._text(row.get(column), scale) for column in columns]
                 for key, row in rows.items()}
        names = max(len(f"      {name}") for _, _, name in rows)
        widths = [max(len(column), *(len(row[i]) for row in texts.values()))
                  for i, column in enumerate(columns)]
        lines = [" " * names + "".join(f"  |  {c.center(w)}" for c, w in zip(columns, widths))]
        threads = None
        for key in sorted(rows, key=lambda key: key[0]):
            if key[0] != threads:
                threads = key[0]
                lines.append(f"{threads} threads: ")
            cells = [self._coloured(text.rjust(width), rows, key, column)
                     for text, width, column in zip(texts[key], widths, columns)]
            lines.append(f"      {key[2]}".ljust(names) + "".join(f"  |  {c}" for c in cells))
        width = max(names + sum(w + 5 for w in widths), 20)
        lines = [line + "-" * (width - len(line)) if line.endswith("threads: ") else line
                 for line in lines]
        title = f" {label or ''} " if label else ""
        heading = "[" + title.center(width - 2, "-") + "]"
        notes = ["(! XX%) Measurement has high variance, where XX is the IQR / median * 100."] if (
            self._warns and any(each.has_warnings for each in group)) else []
        return "\n".join([heading, *lines, "", f"Times are in {_LONG[unit]} ({unit}).", *notes, ""])

    def _text(self, measurement, scale):
        if measurement is None:
            return ""
        value = measurement.median / scale
        if self._trims:
            digits = measurement.significant_figures
            value = float(f"{value:.{digits}g}")
            text = f"{value:.{max(0, digits - len(str(int(value))))}f}"
        else:
            text = f"{value:.1f}"
        if self._warns and measurement.has_warnings:
            text = f"(! {measurement.iqr / measurement.median:.0%}) {text}"
        return text

    def _coloured(self, text, rows, key, column):
        if not self._colours or column not in rows[key]:
            return text
        others = rows[key].values() if self._by_row else [
            row[column] for row in rows.values() if column in row]
        best = min(each.median for each in others)
        ratio = rows[key][column].median / best
        colour = _GREEN if ratio < 1.15 else "" if ratio < 1.5 else _YELLOW if ratio < 3 else _RED
        return f"{colour}{text}{_END}" if colour else text

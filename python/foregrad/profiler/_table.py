"""Events as text."""

_UNITS = (("s", 1e6), ("ms", 1e3), ("us", 1.0))


def time_text(microseconds, unit=None):
    """A time with its unit."""
    if unit is None:
        unit = next((name for name, size in _UNITS if microseconds >= size), "us")
    return f"{microseconds / dict(_UNITS)[unit]:.3f}{unit}"


def memory_text(bytes_):
    """A number of bytes with its unit."""
    for name, size in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)):
        if abs(bytes_) >= size:
            return f"{bytes_ / size:.2f} {name}"
    return f"{bytes_} B"


def _share(part, whole):
    return f"{100.0 * part / whole:.2f}%" if whole else "NaN"


def _cut(text, width):
    return text if width is None or len(text) <= width else text[:width - 3] + "..."


def _columns(total, memory, shapes, stack, unit, widths):
    """Headings, least widths and texts of the columns."""
    name_width, shapes_width, stack_width = widths
    columns = [
        ("Name", 0, lambda e: _cut(e.key, name_width)),
        ("Self CPU %", 12, lambda e: _share(e.self_cpu_time_total, total)),
        ("Self CPU", 12, lambda e: time_text(e.self_cpu_time_total, unit)),
        ("CPU total %", 12, lambda e: _share(e.cpu_time_total, total)),
        ("CPU total", 12, lambda e: time_text(e.cpu_time_total, unit)),
        ("CPU time avg", 12, lambda e: time_text(e.cpu_time, unit))]
    if memory:
        columns += [("CPU Mem", 12, lambda e: memory_text(e.cpu_memory_usage)),
                    ("Self CPU Mem", 12, lambda e: memory_text(e.self_cpu_memory_usage))]
    columns.append(("# of Calls", 12, lambda e: str(e.count)))
    if shapes:
        columns.append(("Input Shapes", 12, lambda e: _cut(str(e.input_shapes), shapes_width)))
    if stack:
        columns.append(("Source Location", 15,
                        lambda e: _cut(e.stack[0] if e.stack else "", stack_width)))
    return columns


def _sorted(events, sort_by):
    known = ("cpu_time", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage",
             "self_cpu_memory_usage", "count", "cuda_time", "cuda_time_total",
             "self_cuda_time_total", "device_time", "device_time_total", "self_device_time_total",
             "device_memory_usage", "self_device_memory_usage")
    if sort_by is None:
        return events
    if sort_by not in known:
        raise AttributeError(f"table: sort_by is {sort_by!r}; expected one of {', '.join(known)}")
    return sorted(events, key=lambda event: -getattr(event, sort_by))


def table(events, *, total, memory, shapes, stack, sort_by, row_limit, header, time_unit, widths):
    """The rows of the table, under its heading and above the whole time."""
    if not events:
        return ""
    if time_unit is not None and time_unit not in dict(_UNITS):
        raise ValueError(f"table: time_unit is {time_unit!r}; expected 's', 'ms' or 'us'")
    events = _sorted(events, sort_by)
    if row_limit >= 0:
        events = events[:row_limit]
    columns = _columns(total, memory, shapes, stack, time_unit, widths)
    rows = [[text(event) for _, _, text in columns] for event in events]
    sizes = [max([least, len(title), *(len(row[i]) for row in rows)]) for i, (title, least, _) in
             enumerate(columns)]
    rule = "".join("-" * size + "  " for size in sizes)
    lines = [rule, _line([title for title, _, _ in columns], sizes), rule]
    lines += [_line(row, sizes) for row in rows]
    lines += [rule, f"Self CPU time total: {time_text(total, time_unit)}", ""]
    if header is not None:
        lines.insert(0, header)
        lines.insert(0, "=" * len(rule))
    return "\n".join(lines)


def _line(texts, sizes):
    return "".join(text.rjust(size) + "  " for text, size in zip(texts, sizes))

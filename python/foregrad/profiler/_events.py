"""Events: calls that were measured, as a tree by time, and their sums by name."""

from __future__ import annotations

from foregrad.profiler import _table

_PREFIXES = {"op": "aten::", "kernel": "aten::", "function": "aten::", "node": "", "user": "",
             "phase": "compile: ", "call": "compiled: ", "step": "kernel: "}


class Interval:
    """A span of time in microseconds."""

    def __init__(self, start, end):
        self.start, self.end = start, end

    def elapsed_us(self):
        """Its length."""
        return self.end - self.start

    def __repr__(self):
        return f"Interval({self.start:.3f}, {self.end:.3f})"


class _Times:
    """Times that both an event and a sum of events have; devices other than the cpu have none."""

    device_time = device_time_total = self_device_time_total = 0
    cuda_time = cuda_time_total = self_cuda_time_total = 0
    device_memory_usage = self_device_memory_usage = 0

    @property
    def cpu_time(self):
        """The average of one call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self):
        return _table.time_text(self.cpu_time)

    @property
    def cpu_time_total_str(self):
        return _table.time_text(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self):
        return _table.time_text(self.self_cpu_time_total)


class FunctionEvent(_Times):
    """One call of a function, with the calls inside of it."""

    count = 1
    is_async = is_remote = False
    flops = None

    def __init__(self, number, record, base):
        category, name, begin, end, thread, memory, shapes, stack = record
        self.id, self.category, self.thread = number, category, thread
        self.name = self.key = _PREFIXES.get(category, f"{category}: ") + name
        self.time_range = Interval((begin - base) / 1e3, (end - base) / 1e3)
        self.input_shapes = _shapes(shapes)
        self.stack = stack.splitlines()
        self.cpu_memory_usage = memory
        self.is_user_annotation = category == "user"
        self.cpu_children, self.cpu_parent = [], None

    @property
    def cpu_time_total(self):
        """Microseconds from its begin to its end."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self):
        """Microseconds without those of the calls inside."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self):
        """Bytes without those of the calls inside."""
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self):
        children = [child.id for child in self.cpu_children]
        return (f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_str} "
                f"start_us={self.time_range.start:.3f} end_us={self.time_range.end:.3f} "
                f"cpu_children={children} thread={self.thread} input_shapes={self.input_shapes} "
                f"cpu_memory_usage={self.cpu_memory_usage}>")


class FunctionEventAvg(_Times):
    """The sum of calls with one key."""

    def __init__(self, key, first):
        self.key, self.count = key, 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.input_shapes, self.stack = first.input_shapes, first.stack
        self.is_user_annotation = first.is_user_annotation

    def add(self, other, nested=False):
        """Adds an event; the time of one inside of an event of the same key counts already."""
        self.count += other.count
        self.self_cpu_time_total += other.self_cpu_time_total
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        if not nested:
            self.cpu_time_total += other.cpu_time_total
            self.cpu_memory_usage += other.cpu_memory_usage
        return self

    def __repr__(self):
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
                f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes} "
                f"cpu_memory_usage={self.cpu_memory_usage}>")


def _shapes(text):
    """Sizes as the binding wrote them: tuples between semicolons."""
    return [[int(size) for size in part.strip("()").split(",") if size.strip()]
            for part in text.split(";")] if text else []


def tree_of(records, base):
    """The events in the order in which they began; those of one thread lie inside of each other.

    A call that is seen twice, as Python makes it and as the library runs it, is one event; so is
    an in-place call with the function inside of it.
    """
    kept, open_by_thread = [], {}
    for record in sorted(records, key=lambda record: (record[2], -record[3])):
        event = FunctionEvent(len(kept), record, base)
        around = open_by_thread.setdefault(event.thread, [])
        while around and around[-1].time_range.end < event.time_range.end:
            around.pop()
        parent = around[-1] if around else None
        if parent is not None and not event.is_user_annotation and parent.name in (
                event.name, event.name + "_"):
            continue
        if parent is not None:
            parent.cpu_children.append(event)
            event.cpu_parent = parent
        around.append(event)
        kept.append(event)
    return kept


class EventList(list):
    """Events, or sums of events, that print as a table."""

    def __init__(self, events=(), profile_memory=False, with_shapes=False, with_stack=False):
        super().__init__(events)
        self._memory, self._shapes, self._stack = profile_memory, with_shapes, with_stack

    @property
    def self_cpu_time_total(self):
        """Microseconds of all events, none counted twice."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0,
                     group_by_overload_name=False):
        """The sums by name, and by input shapes or lines of the stack where they are wanted."""
        sums = {}
        for event in self:
            key = (event.key, str(event.input_shapes) if group_by_input_shapes else "",
                   *event.stack[:group_by_stack_n])
            sums.setdefault(key, FunctionEventAvg(event.key, event)).add(event, _is_nested(event))
        made = list(sums.values())
        for one in made:
            one.stack = one.stack[:group_by_stack_n]
            one.input_shapes = one.input_shapes if group_by_input_shapes else ""
        return EventList(made, self._memory, group_by_input_shapes, group_by_stack_n > 0)

    def total_average(self):
        """The sum of all."""
        total = None
        for event in self:
            total = FunctionEventAvg("Total", event) if total is None else total
            total.add(event)
        return total

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55,
              max_shapes_column_width=80, header=None, top_level_events_only=False, time_unit=None):
        """The events as text, one row each, the largest of `sort_by` first."""
        events = [event for event in self
                  if not top_level_events_only or getattr(event, "cpu_parent", None) is None]
        return _table.table(
            events, total=self.self_cpu_time_total, memory=self._memory, shapes=self._shapes,
            stack=self._stack, sort_by=sort_by, row_limit=row_limit, header=header,
            time_unit=time_unit, widths=(max_name_column_width, max_shapes_column_width,
                                         max_src_column_width))

    def __str__(self):
        return self.table()

    def export_chrome_trace(self, path):
        """Writes the events for Chrome's trace viewer or Perfetto."""
        from foregrad.profiler._trace import write

        write(path, self)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes the stacks with a number each, for flame graphs."""
        if metric not in ("self_cpu_time_total", "self_cuda_time_total"):
            raise ValueError("metric should be one of: ['self_cpu_time_total', "
                             "'self_cuda_time_total']")
        with open(path, "w") as file:
            for event in self:
                value = int(getattr(event, metric))
                if event.stack and value > 0:
                    lines = [line.replace(" ", "_").replace(";", "_") for line in event.stack]
                    file.write(f"{';'.join(reversed(lines))} {value}\n")


def _is_nested(event):
    """Whether an event lies inside of another one with its key."""
    around = event.cpu_parent
    while around is not None:
        if around.key == event.key:
            return True
        around = around.cpu_parent
    return False

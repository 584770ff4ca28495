"""Events in the format of Chrome's trace viewer and Perfetto."""

import gzip
import json
import os
import sys

_CATEGORIES = {"op": "cpu_op", "kernel": "cpu_op", "function": "cpu_op", "node": "cpu_op",
               "user": "user_annotation"}


def _event(event, process):
    arguments = {"External id": event.id}
    if event.input_shapes:
        arguments["Input Dims"] = event.input_shapes
    if event.stack:
        arguments["Call stack"] = ";".join(event.stack)
    if event.cpu_memory_usage:
        arguments["Bytes"] = event.cpu_memory_usage
    return {"ph": "X", "cat": _CATEGORIES.get(event.category, "compiled"), "name": event.name,
            "pid": process, "tid": event.thread, "ts": event.time_range.start,
            "dur": event.time_range.elapsed_us(), "args": arguments}


def document(events, metadata=None):
    """The whole trace, as an object for JSON."""
    process = os.getpid()
    threads = sorted({event.thread for event in events})
    name = os.path.basename(sys.executable)
    made = [{"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": name}}]
    made += [{"ph": "M", "name": "thread_name", "pid": process, "tid": thread,
              "args": {"name": f"thread {thread} ({name})"}} for thread in threads]
    made += [_event(event, process) for event in events]
    return {"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": made, **(metadata or {})}


def write(path, events, metadata=None):
    """Writes the trace, compressed where the name ends with .gz."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "wt") as file:
        json.dump(document(events, metadata), file)

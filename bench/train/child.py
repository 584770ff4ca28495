"""One contender in a process of its own: builds a model, trains it, then works when it is told to.

The first line it prints is the start: seconds of the first call, losses, memory. For every line it
reads, a number of seconds, it trains that long and prints the seconds of every step.
"""
import json
import sys
import time

LOSSES, MEASURED, ENOUGH = 5, 10, 5


def status(field):
    """Megabytes by /proc/self/status."""
    with open("/proc/self/status") as lines:
        return next(int(x.split()[1]) / 1024 for x in lines if x.startswith(field + ":"))


def forget_peak():
    """From here on VmHWM is the highest since now."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def timed(step):
    begin = time.perf_counter()
    loss = step()
    return time.perf_counter() - begin, loss


def say(what):
    print(json.dumps(what), flush=True)


def begin(make_step, name):
    """The cost of the first steps; memory is their peak above that of the imported package."""
    imported = status("VmRSS")
    step = make_step(name)
    first, loss = timed(step)
    forget_peak()
    later, losses = zip(*(timed(step) for _ in range(MEASURED - 1)))
    say({"first": first, "later": later, "losses": [loss, *losses][:LOSSES],
         "memory": status("VmHWM") - imported})
    return step


def serve(make_step, name):
    """make_step(name) gives a function that trains one step and returns the loss as a number."""
    step = begin(make_step, name)
    for line in sys.stdin:
        until, times = time.perf_counter() + float(line), []
        while len(times) < ENOUGH or time.perf_counter() < until:
            times.append(timed(step)[0])
        say(times)

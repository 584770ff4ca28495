"""Times the steps of a contender, or prints its first losses."""
import json
import os
import statistics
import sys
import time

WARM, SECONDS, LOSSES = 5, 1.0, 3


def report(step, cases):
    """Prints the milliseconds of a step for each of the cases: the median, or the fastest one."""
    losses = [step() for _ in range(LOSSES)]
    if "--losses" in sys.argv:
        for case in cases:
            print(json.dumps({"case": case, "unit": "", "value": losses}))
        return
    for _ in range(WARM):
        step()
    times, until = [], time.perf_counter() + SECONDS
    while time.perf_counter() < until:
        begin = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - begin))
    typical = min if os.environ.get("FASTEST_STEP") else statistics.median
    for case in cases:
        print(json.dumps({"case": case, "unit": "ms", "value": typical(times)}))

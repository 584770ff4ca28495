"""One contender: microseconds per eager step of optimisers on 200 small tensors, as JSON lines.

Usage: cases.py foregrad|torch foreach|fused
"""
import importlib
import json
import sys
import time

SHAPES = [(16,), (64,), (32, 32), (64, 64)]
KINDS = {
    "foreach": {"Adam": {}, "AdamW": {}, "SGD": {"momentum": 0.9}, "RMSprop": {}, "Adagrad": {},
                "NAdam": {}, "RAdam": {}, "Adamax": {}, "Adadelta": {}, "ASGD": {}, "Rprop": {}},
    "fused": {"Adam": {}, "AdamW": {}, "SGD": {"momentum": 0.9}, "Adagrad": {}},
}
who, peer = sys.argv[1:]
lib = importlib.import_module(who)


def per_call(function, seconds=0.03):
    """Microseconds: the best of several stretches, for the others were interrupted."""
    for _ in range(3):
        function()
    best = float("inf")
    for _ in range(12):
        calls, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            function()
            calls += 1
        best = min(best, (time.perf_counter() - start) / calls)
    return best * 1e6


def step_of(kind, settings):
    lib.manual_seed(0)
    parameters = [lib.nn.Parameter(lib.randn(*SHAPES[i % 4])) for i in range(200)]
    for parameter in parameters:
        parameter.grad = lib.randn(*parameter.shape)
    return getattr(lib.optim, kind)(parameters, **settings, **{peer: True}).step


def main():
    for threads in (1, 2):
        lib.set_num_threads(threads)
        for kind, settings in KINDS[peer].items():
            step = step_of(kind, settings)
            print(json.dumps({"case": f"{kind} vs {peer}, {threads} threads", "unit": "us",
                              "value": per_call(step)}), flush=True)


if __name__ == "__main__":
    main()

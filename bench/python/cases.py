"""One contender: microseconds per call, as JSON lines. Usage: cases.py torch|foregrad"""
import importlib
import json
import subprocess
import sys
import time


def report(case, unit, value):
    print(json.dumps({"case": case, "unit": unit, "value": value}), flush=True)


def per_call(function, calls):
    """Microseconds: the best of several stretches, for the others were interrupted."""
    best = float("inf")
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, (time.perf_counter() - start) / calls)
    return best * 1e6


def calls(torch):
    a, b, c = (torch.ones(4) * i for i in (1, 2, 3))
    x = torch.ones(8, 8)
    ra, rb = (t.clone().requires_grad_() for t in (a, b))
    yield "call a+b", lambda: a + b, 20000
    yield "call a*b+c recording", lambda: ra * rb + c, 10000
    yield "call x.sum(1)", lambda: x.sum(1), 20000
    yield "call x[2:5]", lambda: x[2:5], 20000


def custom_function(torch):
    """13 inputs and 2 outputs, with its backward."""
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            return inputs[0] + inputs[1], inputs[2] * inputs[3]

        @staticmethod
        def backward(ctx, first, second):
            return (first, first, second, second) + (None,) * 9

    inputs = [torch.ones(4).requires_grad_() for _ in range(13)]
    gradient = torch.ones(4)

    def step():
        first, second = Both.apply(*inputs)
        torch.autograd.backward((first, second), (gradient, gradient))

    return step


def chain(torch):
    x = torch.ones(4).requires_grad_()
    gradient = torch.ones(4)
    y = x
    for _ in range(1000):
        y = y + 1
    return lambda: y.backward(gradient, retain_graph=True)


def import_time(name):
    code = f"import time; t = time.perf_counter(); import {name}; print(time.perf_counter() - t)"
    times = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                  check=True).stdout) for _ in range(3)]
    return min(times) * 1e3


def main():
    name = sys.argv[1]
    torch = importlib.import_module(name)
    torch.set_num_threads(1)
    for case, function, count in calls(torch):
        report(case, "us", per_call(function, count))
    report("call Function.apply", "us", per_call(custom_function(torch), 1000))
    report("call backward of 1000 nodes", "us", per_call(chain(torch), 20))
    report("import", "ms", import_time(name))


if __name__ == "__main__":
    main()

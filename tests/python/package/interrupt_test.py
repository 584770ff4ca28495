"""Ctrl-C during long native work raises KeyboardInterrupt soon, and all goes on after it."""

import subprocess
import sys
import textwrap
import time

import pytest

WORK = {
    "matrix products in a loop": """
        a = fg.ones(500, 500)
        def work():
            while True:
                a @ a
    """,
    "one long matrix product": """
        a = fg.ones(4500, 4500)
        def work():
            a @ a
    """,
    "a long backward": """
        x = fg.ones(1000, requires_grad=True)
        y = x
        for _ in range(300_000):
            y = y * 1.000001
        y = y.sum()
        def work():
            while True:
                y.backward(retain_graph=True)
    """,
    "elementwise work in a loop": """
        a = fg.ones(1_000_000)
        def work():
            while True:
                a.exp().log()
    """,
    "a backward of custom functions": """
        class Slow(fg.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, grad):
                return grad * 1

        x = y = fg.ones(10, requires_grad=True)
        for _ in range(100_000):
            y = Slow.apply(y)
        y = y.sum()
        def work():
            while True:
                y.backward(retain_graph=True)
    """,
}

PROGRAM = """
import signal, sys, time
import foregrad as fg

signal.signal(signal.SIGINT, signal.default_int_handler)
{work}
print("ready", flush=True)
try:
    work()
    print("ended", flush=True)
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
x = fg.ones(3, requires_grad=True)
(x * 2).sum().backward()
print(x.grad.tolist(), (fg.ones(300, 300) @ fg.ones(300, 300)).sum().item(), flush=True)
"""


@pytest.mark.parametrize("what", WORK)
def test_ctrl_c_is_answered_within_two_seconds_during(what):
    source = PROGRAM.format(work=textwrap.dedent(WORK[what]))
    process = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        sent = time.time()
        process.send_signal(2)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0 and errors == ""
    first, second = output.splitlines()
    assert first.startswith("interrupted")
    assert float(first.split()[1]) - sent < 2
    assert second == "[2.0, 2.0, 2.0] 27000000.0"

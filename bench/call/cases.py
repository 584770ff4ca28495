"""One contender: microseconds per call of a small function, as JSON lines.

Usage: cases.py foregrad|eager|torch.compile|jax name-of-the-peer
"""
import importlib
import json
import sys
import time

MODULES = {"foregrad": "foregrad", "eager": "foregrad", "torch.compile": "torch",
           "jax": "jax.numpy"}
who, peer = sys.argv[1:]
lib = importlib.import_module(MODULES[who])


def f(x, w, b):
    return (lib.tanh(x * w + b) * x).sum()


def per_call(function, calls=2000):
    """Microseconds: the best of several stretches, for the others were interrupted."""
    for _ in range(20):
        function()
    best = float("inf")
    for _ in range(15):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, (time.perf_counter() - start) / calls)
    return best * 1e6


def like_torch():
    lib.set_num_threads(1)
    call = f if who == "eager" else lib.compile(f)
    plain = [lib.ones(10) * (i + 1) * 0.3 for i in range(3)]
    leaves = [t.clone().requires_grad_() for t in plain]
    grad = lib.autograd.grad
    return lambda: call(*plain), lambda: grad(call(*leaves), leaves)


def like_jax():
    import jax

    arguments = [lib.ones(10) * (i + 1) * 0.3 for i in range(3)]
    forward, training = jax.jit(f), jax.jit(jax.value_and_grad(f, (0, 1, 2)))
    return (lambda: forward(*arguments).block_until_ready(),
            lambda: jax.block_until_ready(training(*arguments)))


def main():
    forward, training = like_jax() if who == "jax" else like_torch()
    for case, function in (("forward", forward), ("training", training)):
        print(json.dumps({"case": f"{case} vs {peer}", "unit": "us", "value": per_call(function)}),
              flush=True)


if __name__ == "__main__":
    main()

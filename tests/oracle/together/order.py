"""Imports three libraries in the order of the arguments, compiles with each, compares results.

The function has a product and a fused loop, the convolution is oneDNN's: what two libraries in one
process could take from each other by mistake (LLVM, oneDNN, OpenMP, allocators).
"""
import importlib
import sys

modules = {name: importlib.import_module(name) for name in sys.argv[1:]}

import numpy  # noqa: E402

DRAW = numpy.random.default_rng(3)
X, W = DRAW.standard_normal((2, 33, 33)).astype("float32")
IMAGES = DRAW.standard_normal((2, 3, 9, 9)).astype("float32")
KERNEL = DRAW.standard_normal((4, 3, 3, 3)).astype("float32")


def formula(library, x, w):
    return library.tanh(x @ w) * x + library.exp(-x * x)


def with_tensors(library):
    """PyTorch and Foregrad: the same names."""
    x, w, images, kernel = map(library.from_numpy, (X, W, IMAGES, KERNEL))
    run = library.compile(lambda x, w: formula(library, x, w), fullgraph=True)
    result = library.nn.functional.conv2d(images, kernel.requires_grad_())
    result.square().sum().backward()
    return run(x, w).numpy(), result.detach().numpy(), kernel.grad.numpy()


def with_jax(jax):
    def convolution(kernel):
        return jax.lax.conv(IMAGES, kernel, (1, 1), "VALID")

    run = jax.jit(lambda x, w: formula(jax.numpy, x, w))
    gradient = jax.grad(lambda kernel: (convolution(kernel) ** 2).sum())(KERNEL)
    return tuple(map(numpy.asarray, (run(X, W), convolution(KERNEL), gradient)))


CALLS = {"torch": with_tensors, "jax": with_jax, "foregrad": with_tensors}
# Twice: the first to compile meets the others before they have compiled, the second time after.
for again in range(2):
    results = {name: CALLS[name](module) for name, module in modules.items()}
    for name in ("jax", "foregrad"):
        for mine, expected in zip(results[name], results["torch"], strict=True):
            numpy.testing.assert_allclose(mine, expected, rtol=1e-4, atol=1e-4, err_msg=name)
counters = modules["foregrad"].compiler.counters
assert counters.captured > 0 and counters.interpreted == 0, counters  # it was native code
print("equal")

"""Checks of differentiable functions: both derivatives, and compiled bits."""

import foregrad as fg


def numbers(*sizes, low=-1.0, high=1.0):
    """The same float64 numbers at every call, which require grad."""
    generator = fg.Generator()
    generator.manual_seed(1)
    values = fg.rand(*sizes, dtype=fg.float64, generator=generator)
    return (values * (high - low) + low).requires_grad_()


def listed(result):
    return result if isinstance(result, (tuple, list)) else [result]


def check(function, *inputs):
    """Both derivatives by finite differences, and equal bits when compiled."""
    assert fg.autograd.gradcheck(function, inputs)
    assert fg.autograd.gradgradcheck(function, inputs)
    compiled = fg.compile(function, fullgraph=True)
    for seen, wanted in zip(listed(compiled(*inputs)), listed(function(*inputs))):
        assert fg.equal(seen, wanted)

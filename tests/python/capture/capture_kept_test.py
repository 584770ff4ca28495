"""A compiled call keeps and packs what a gradient reads, and nothing else."""

import gc
import weakref

import foregrad as fg
import pytest
from capture_compare import elements, leaf, plain
from foregrad.autograd import Function
from foregrad.autograd.graph import saved_tensors_hooks


def packs(function, *arguments):
    """How many tensors a call packs."""
    count = []

    def pack(tensor):
        count.append(tensor)
        return tensor.detach()

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        result = function(*arguments)
    result.sum().backward()
    return len(count)


PROGRAMS = [
    lambda x, b: x * 2 + b, lambda x, b: x * b, lambda x, b: (x * 2 + b).sin(),
    lambda x, b: x.exp() + b, lambda x, b: (x - b).sum(), lambda x, b: x.reshape(3, 1) + b,
    lambda x, b: (x * b).sin() * x, lambda x, b: x.sigmoid() - b * 3]


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("make", [leaf, plain])
def test_a_compiled_call_packs_no_more_than_an_eager_one(function, make):
    compiled = fg.compile(function, fullgraph=True)
    for _ in range(2):
        eager = packs(function, leaf(3), make(3))
        assert packs(compiled, leaf(3), make(3)) <= eager


def lives_after(function, make=plain):
    """Whether a call keeps its second argument alive until the backward."""
    x, b = leaf(3), make(3)
    result = function(x, b)
    alive = weakref.ref(b)
    del b
    gc.collect()
    found = alive() is not None
    result.sum().backward()
    return found


@pytest.mark.parametrize("function", PROGRAMS)
def test_a_compiled_call_frees_what_an_eager_one_frees(function):
    compiled = fg.compile(function, fullgraph=True)
    for _ in range(2):
        assert lives_after(compiled) <= lives_after(function)


def orders(function, *arguments):
    """Derivatives of three orders, with and without hooks that pack."""
    seen = []
    targets = [a for a in arguments if a.requires_grad]
    grads = [function(*arguments)]
    for _ in range(3):
        total = sum(g.sum() for g in grads if g is not None and g.requires_grad)
        if not isinstance(total, fg.Tensor) or not total.requires_grad:
            break
        grads = fg.autograd.grad(total, targets, create_graph=True, allow_unused=True)
        seen.append([None if g is None else elements(g).round(9).tolist() for g in grads])
    return seen


@pytest.mark.parametrize("function", PROGRAMS + [
    lambda x, b: (x * 2 + b).sin().exp() * b, lambda x, b: ((x + b) ** 3).tanh() / (b + 2),
    lambda x, b: fg.softmax(x * b, 0) * x])
@pytest.mark.parametrize("make", [leaf, plain])
def test_what_is_kept_is_enough_for_derivatives_of_higher_order(function, make):
    compiled = fg.compile(function, fullgraph=True)
    for hooks in (False, True):
        def run(one):
            if not hooks:
                return orders(one, leaf(3), make(3))
            with saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
                return orders(one, leaf(3), make(3))

        assert run(compiled) == run(function)


def test_numbers_that_a_gradient_reads_are_kept_for_higher_orders():
    def f(x, factor):
        return (x * factor).sin() ** 2

    def outcome(function):
        return [orders(lambda x: function(x, factor), leaf(3)) for factor in (0.5, 1.5)]

    assert outcome(fg.compile(f, fullgraph=True)) == outcome(f)


def test_a_custom_function_packs_what_it_saves():
    class Scales(Function):
        @staticmethod
        def forward(ctx, x, b, c):
            ctx.save_for_backward(b)
            return x * b + c

        @staticmethod
        def backward(ctx, g):
            b, = ctx.saved_tensors
            return g * b, None, None

    compiled = fg.compile(lambda x, b, c: Scales.apply(x, b, c), fullgraph=True)
    for function in (Scales.apply, compiled, compiled):
        assert packs(function, leaf(3), plain(3), plain(3)) == 1

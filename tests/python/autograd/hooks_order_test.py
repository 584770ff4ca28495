"""Hooks: their order at a leaf, undefined gradients, and what a backward leaves behind."""

import foregrad as fg
import pytest


def ones(*sizes):
    return fg.ones(*(sizes or (3,)), requires_grad=True)


MANY = {"unbind": lambda x: x.unbind(0), "split": lambda x: x.split(1),
        "chunk": lambda x: x.chunk(2)}


@pytest.mark.parametrize("parts", MANY.values(), ids=MANY)
def test_a_hook_sees_none_when_its_node_runs_for_another_output(parts):
    x, seen = ones(2, 2), []
    first, second = parts(x)
    first.register_hook(lambda g: seen.append(("first", g)))
    second.register_hook(lambda g: seen.append(("second", g.flatten().tolist())))
    first.grad_fn.register_prehook(lambda gs: seen.append(("node", [g is None for g in gs])))
    first.retain_grad()
    second.sum().backward()
    assert seen == [("first", None), ("second", [1, 1]), ("node", [True, False])]
    assert first.grad is None and x.grad.tolist() == [[0, 0], [1, 1]]


def test_the_gradient_of_an_output_that_did_not_run_stays_none_under_a_hook():
    x = ones(2, 2)
    first, second = x.unbind(0)
    first.register_hook(lambda g: None)
    assert fg.autograd.grad(second.sum(), (first, x), allow_unused=True)[0] is None
    first, second = x.unbind(0)
    first.register_hook(lambda g: fg.ones(2))
    with pytest.raises(RuntimeError, match="returned a Tensor in place of None"):
        second.sum().backward()


def test_indices_are_no_gradients_of_a_node():
    values, _ = ones(2, 3).max(1)
    seen = []
    values.grad_fn.register_prehook(lambda gs: seen.append(len(gs)))
    values.sum().backward()
    assert seen == [1]


def test_hooks_of_a_leaf_run_in_order_and_see_what_was_accumulated():
    x, seen = ones(2), []
    node = fg.autograd.graph.get_gradient_edge(x).node

    def note(kind):
        return lambda *grads: seen.append((kind, None if x.grad is None else x.grad.tolist()))

    node.register_hook(note("post"))
    x.register_post_accumulate_grad_hook(note("accumulated"))
    node.register_prehook(note("pre"))
    x.register_hook(note("tensor"))
    (x * 2).sum().backward()
    assert seen == [("tensor", None), ("pre", None), ("accumulated", [2, 2]), ("post", [2, 2])]
    seen.clear()
    (x * 2).sum().backward()
    assert seen == [("tensor", [2, 2]), ("pre", [2, 2]), ("accumulated", [4, 4]), ("post", [4, 4])]


@pytest.mark.parametrize("kinds", range(16))
def test_no_hook_of_a_leaf_holds_the_memory_of_its_gradient(kinds):
    x, kept = ones(2), []
    node = fg.autograd.graph.get_gradient_edge(x).node
    if kinds & 1:
        x.register_hook(lambda g: kept.append(g))
    if kinds & 2:
        node.register_prehook(lambda gs: kept.append(gs[0]))
    if kinds & 4:
        x.register_post_accumulate_grad_hook(lambda t: None)
    if kinds & 8:
        node.register_hook(lambda grads, gs: kept.append(gs[0].clone()))
    for _ in range(2):
        (x * 2).sum().backward()
    assert all(g.data_ptr() != x.grad.data_ptr() and g.tolist() == [2, 2] for g in kept)
    assert x.grad.tolist() == [4, 4]


def test_hooks_of_a_leaf_run_without_a_gradient_too():
    class Nothing(fg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    x, seen = ones(2), []
    node = fg.autograd.graph.get_gradient_edge(x).node
    x.register_hook(lambda g: seen.append(g))
    node.register_prehook(lambda gs: seen.append(gs))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad))
    node.register_hook(lambda grads, gs: seen.append(gs))
    Nothing.apply(x).sum().backward()
    assert seen == [None, (None,), None, (None,)] and x.grad is None


def test_hooks_of_what_a_compiled_call_does_not_need_are_not_called():
    f = fg.compile(lambda x, w: (x * 2, w * 3), fullgraph=True)
    x, w, seen = ones(2), ones(2), []
    w.register_hook(lambda g: seen.append(g))
    w.register_post_accumulate_grad_hook(lambda t: seen.append(t))
    fg.autograd.graph.get_gradient_edge(w).node.register_hook(lambda i, o: seen.append(o))
    first, second = f(x, w)
    second.register_hook(lambda g: seen.append(g))
    first.sum().backward()
    assert seen == [] and x.grad.tolist() == [2, 2] and w.grad is None


def test_modes_and_hooks_that_a_backward_enters_end_with_their_node():
    x, seen = ones(), []
    y = x * 2
    z = y * 3
    note = fg.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t)

    def enter(g):
        fg.set_grad_enabled(True)
        note.__enter__()
        fg.autograd.graph.node_creation_hook(seen.append).__enter__()

    z.register_hook(enter)
    y.register_hook(lambda g: seen.append(fg.is_grad_enabled()))
    z.sum().backward()
    assert seen == [False]
    (x * x).sum().backward()
    assert seen == [False]


def test_a_backward_takes_no_hooks_away_from_its_caller():
    from foregrad import _C

    x, seen = ones(), []
    y = x * 2
    y.register_hook(lambda g: _C._pop_saved_tensors_hooks())
    with fg.autograd.graph.saved_tensors_hooks(lambda t: seen.append(1) or t, lambda t: t):
        y.sum().backward()
        x * x
        assert seen == [1, 1]
    x * x
    assert seen == [1, 1]


def test_hooks_disabled_in_a_backward_are_possible_after_it():
    x = ones()
    y = x * 2
    y.register_hook(lambda g: fg.autograd.graph.disable_saved_tensors_hooks("no").__enter__())
    y.sum().backward()
    with fg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        pass


@pytest.mark.parametrize("kinds", range(4))
def test_the_post_hook_of_an_accumulator_sees_what_was_accumulated(kinds):
    """The gradient that a leaf takes over is the one that the hook is given."""
    x, seen = ones(2), []
    node = fg.autograd.graph.get_gradient_edge(x).node
    if kinds & 1:
        x.register_hook(lambda g: None)
    if kinds & 2:
        node.register_prehook(lambda gs: None)
    x.register_post_accumulate_grad_hook(lambda t: (t.grad.add_(10), None)[1])
    node.register_hook(lambda grads, gs: seen.append(gs[0].tolist()))
    for _ in range(2):
        (x * 2).sum().backward()
    assert seen == [[12, 12], [2, 2]] and x.grad.tolist() == [24, 24]

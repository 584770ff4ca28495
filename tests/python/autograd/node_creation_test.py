"""Hooks of new nodes: when they are called, on which node, and on which thread."""

import threading

import foregrad as fg
import pytest
from foregrad.autograd import Function
from foregrad.autograd.graph import get_gradient_edge, node_creation_hook


def ones(*sizes):
    return fg.ones(*(sizes or (3,)), requires_grad=True)


def names_of(function, *arguments):
    seen = []
    with node_creation_hook(seen.append):
        result = function(*arguments)
    return [type(node).__name__ for node in seen], seen, result


def test_every_new_node_is_seen_once():
    names, seen, result = names_of(lambda x: (x * 2).exp(), ones())
    assert names == ["AccumulateGrad", "MulBackward0", "ExpBackward0"]
    assert seen[-1] is result.grad_fn and seen[1] is result.grad_fn.next_functions[0][0]


def test_a_node_with_several_outputs_is_seen_once():
    names, _, _ = names_of(lambda x: (x * 1).split(1), ones())
    assert names == ["AccumulateGrad", "MulBackward0", "SplitBackward0"]


def test_what_records_nothing_is_not_seen():
    x = ones()
    with fg.no_grad():
        assert names_of(lambda: x.exp())[0] == []
    assert names_of(lambda: fg.ones(3).exp() + x.detach())[0] == []
    x.exp()  # outside of the context
    assert names_of(lambda: None)[0] == []


def test_a_reused_accumulator_is_not_seen_again():
    x = ones()
    kept = get_gradient_edge(x)
    assert names_of(lambda: x.exp())[0] == ["ExpBackward0"]
    del kept
    assert names_of(lambda: x.exp())[0] == ["AccumulateGrad", "ExpBackward0"]


def test_saved_tensors_are_there():
    seen = {}

    def hook(node):
        if type(node).__name__ == "ExpBackward0":
            seen["result"] = node._saved_result.tolist()
        if type(node).__name__ == "MulBackward0":
            seen["other"] = node._saved_other.tolist()

    x = fg.zeros(2, requires_grad=True)
    with node_creation_hook(hook):
        (x.exp() * fg.full((2,), 3.0)).sum()
    assert seen == {"result": [1, 1], "other": [3, 3]}


def test_the_attached_node_is_seen():
    base = ones() * 1
    names, seen, _ = names_of(lambda: base[0].mul_(2))
    assert names[-1] == "CopySlices" and seen[-1] is base.grad_fn
    assert "MulBackward0" not in names


class Double(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.note = "set in forward"
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class DoubleInPlace(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_custom_functions_are_complete():
    seen = []
    x = ones() * 1
    with node_creation_hook(lambda node: seen.append((node.saved_tensors, node.note))):
        Double.apply(x)
    ((saved,), note), = seen
    assert saved is x and note == "set in forward"
    base = ones() * 1
    names, nodes, _ = names_of(lambda: DoubleInPlace.apply(base[0]))
    assert names[-1] == "CopySlices" and nodes[-1] is base.grad_fn


def test_nested_hooks_run_outermost_first():
    order = []
    x = ones() * 1
    with node_creation_hook(lambda node: order.append("outer")):
        with node_creation_hook(lambda node: order.append("inner")):
            x.exp()
        x.exp()
    x.exp()
    assert order == ["outer", "inner", "outer"]


def test_nodes_of_double_backward_are_seen():
    x = ones()
    y = x.exp().sum()
    names, _, _ = names_of(lambda: fg.autograd.grad(y, x, create_graph=True))
    assert "MulBackward0" in names


def test_hooks_may_register_hooks_and_metadata():
    ran = []

    def hook(node):
        node.metadata["made in"] = "forward"
        node.register_prehook(lambda grads: ran.append(node.metadata["made in"]))

    x = ones()
    with node_creation_hook(hook):
        y = x.exp()
    y.sum().backward()
    assert ran == ["forward", "forward"]  # the exponential and the accumulator


def test_making_a_node_inside_is_an_error():
    x = ones()
    with node_creation_hook(lambda node: x.exp() and None):
        with pytest.raises(RuntimeError, match="made a node itself"):
            x.sin()

    def careful(node):
        with fg.no_grad():
            x.exp()

    with node_creation_hook(careful):
        assert x.sin().requires_grad


def test_a_hook_returns_none_and_its_exceptions_come_out():
    def talkative(node):
        return 5

    x = ones()
    with node_creation_hook(talkative):
        with pytest.raises(RuntimeError, match="'talkative' returned int; it must return None"):
            x.exp()

    def broken(node):
        raise KeyError("mine")

    with node_creation_hook(broken):
        with pytest.raises(KeyError, match="mine"):
            x.exp()
    assert x.exp().requires_grad
    with pytest.raises(TypeError, match="callable"):
        with node_creation_hook(3):
            pass


def test_hooks_belong_to_their_thread():
    seen = []
    x = ones() * 1
    with node_creation_hook(seen.append):
        thread = threading.Thread(target=lambda: x.exp())
        thread.start()
        thread.join()
    assert seen == []


def test_hooks_follow_to_threads_of_the_engine():
    seen = []

    class Deeper(Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            with fg.enable_grad():
                inner = ones()
                if ctx.depth == 0:
                    seen.clear()
                    inner.exp()
                else:
                    Deeper.apply(inner, ctx.depth - 1).sum().backward()
            return grad, None

    with node_creation_hook(seen.append):
        Deeper.apply(ones(), 70).sum().backward()
    assert [type(node).__name__ for node in seen] == ["AccumulateGrad", "ExpBackward0"]


def test_the_context_is_left_when_its_body_raises():
    seen = []
    with pytest.raises(ValueError):
        with node_creation_hook(seen.append):
            raise ValueError
    ones().exp()
    assert seen == []


def test_hooks_leak_nothing(stays_level):
    def call():
        seen = []
        with node_creation_hook(seen.append):
            x = ones()
            x.exp().sum().backward()

    stays_level(call)

"""Hooks of tensors by id, as PyTorch keeps them."""

from collections import OrderedDict

import foregrad as fg
import pytest
from foregrad.utils.hooks import RemovableHandle


def ones(*sizes):
    return fg.ones(*(sizes or (3,)), requires_grad=True)


@pytest.mark.parametrize("make", [ones, lambda: ones() * 2], ids=["leaf", "result"])
def test_hooks_are_in_a_dictionary_by_id(make):
    x = make()
    assert x._backward_hooks is None
    first, second = (lambda grad: None), (lambda grad: grad * 2)
    handle = x.register_hook(first)
    hooks = x._backward_hooks
    assert isinstance(hooks, OrderedDict) and isinstance(handle, RemovableHandle)
    other = x.register_hook(second)
    assert x._backward_hooks is hooks and hooks == {handle.id: first, other.id: second}
    handle.remove()
    assert hooks == {other.id: second}
    handle.remove()
    with x.register_hook(first):
        assert len(hooks) == 2
    assert len(hooks) == 1


def test_what_is_in_the_dictionary_is_called_in_its_order():
    x = ones()
    order = []
    x.register_hook(lambda grad: order.append("first"))
    x._backward_hooks["mine"] = lambda grad: order.append("second")
    x.sum().backward()
    assert order == ["first", "second"]
    x._backward_hooks.clear()
    x.sum().backward()
    assert order == ["first", "second"]


@pytest.mark.parametrize("make", [ones, lambda: ones() * 2], ids=["leaf", "result"])
def test_a_dictionary_is_bound_and_unbound(make):
    x = make()
    seen = []
    hooks = OrderedDict(one=lambda grad: seen.append(grad.tolist()))
    x._backward_hooks = hooks
    assert x._backward_hooks is hooks
    x.sum().backward(retain_graph=True)
    assert seen == [[1, 1, 1]]
    handle = x.register_hook(lambda grad: seen.append("registered"))
    assert list(hooks) == ["one", handle.id]
    x._backward_hooks = None
    x.sum().backward()
    assert x._backward_hooks is None and seen == [[1, 1, 1]]


def test_a_dictionary_may_come_before_requires_grad():
    x = fg.ones(3)
    seen = []
    x._backward_hooks = OrderedDict(one=lambda grad: seen.append(1))
    x.requires_grad_()
    x.sum().backward()
    assert seen == [1]


@pytest.mark.parametrize("wrong", [3, "text", []])
def test_what_is_no_dictionary_is_refused(wrong):
    with pytest.raises(TypeError, match="expected a dictionary of hooks or None"):
        ones()._backward_hooks = wrong


def test_what_is_in_the_dictionary_must_be_callable():
    x = ones()
    x._backward_hooks = OrderedDict(one=3)
    with pytest.raises(TypeError, match="callable"):
        x.sum().backward()


def test_each_output_of_a_node_has_hooks_of_its_own():
    seen = []
    a, b, c = ones().unbind()
    a.register_hook(lambda grad: seen.append(("a", grad)))
    c.register_hook(lambda grad: seen.append(("c", grad.item())))
    assert b._backward_hooks is None and len(c._backward_hooks) == 1
    (b + c).backward()
    assert seen == [("a", None), ("c", 1)]


def test_a_tensor_written_in_place_has_no_hooks_any_more():
    y = ones() * 2
    seen = []
    y.register_hook(lambda grad: seen.append(("before", grad.tolist())))
    y.mul_(3)
    assert y._backward_hooks is None
    y.register_hook(lambda grad: seen.append(("after", grad.tolist())))
    y.sum().backward()
    assert seen == [("after", [1, 1, 1]), ("before", [3, 3, 3])]


def test_a_dictionary_is_bound_to_a_node_with_the_output():
    a, b = ones(2).unbind()
    seen = []
    b.register_hook(lambda grad: seen.append(grad.item()))
    b.grad_fn._register_hook_dict(b)  # it is bound already
    (a * 5 + b * 7).backward()
    assert seen == [7]
    other = ones(2).unbind()
    other[0].grad_fn._register_hook_dict(b)
    (other[0] * 11 + other[1] * 13).backward()
    assert seen == [7, 13]


@pytest.mark.parametrize("wrong", [3, None, "text"])
def test_only_tensors_have_dictionaries(wrong):
    y = ones() * 2
    with pytest.raises(TypeError, match="_register_hook_dict: expected a Tensor"):
        y.grad_fn._register_hook_dict(wrong)
    with pytest.raises(RuntimeError, match="has no hooks"):
        y.grad_fn._register_hook_dict(y)


def test_a_hook_may_register_and_remove_while_hooks_run():
    x = ones()
    seen = []

    def first(grad):
        seen.append("first")
        handle.remove()
        x.register_hook(lambda grad: seen.append("late"))

    handle = x.register_hook(first)
    x.sum().backward()
    assert seen == ["first"] and len(x._backward_hooks) == 1
    x.sum().backward()
    assert seen == ["first", "late"]


def test_handles_know_other_dictionaries():
    hooks, other = OrderedDict(), OrderedDict()
    handle = RemovableHandle(hooks, extra_dict=other)
    hooks[handle.id] = other[handle.id] = print
    handle.remove()
    assert not hooks and not other
    del hooks, other
    handle.remove()


def test_dictionaries_leak_nothing(stays_level):
    def call():
        x = ones()
        y = x * 2
        y.register_hook(lambda grad: y * 1)  # a cycle
        x.register_hook(lambda grad: x * 1)
        y.grad_fn.register_hook(lambda inputs, outputs: y and None)

    stays_level(call)

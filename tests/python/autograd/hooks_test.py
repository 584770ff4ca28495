"""Hooks of tensors and nodes: what they get, what they may return, their order."""

import foregrad as fg
import pytest
from foregrad.autograd import Function
from foregrad.autograd.graph import get_gradient_edge


def ones(*sizes):
    return fg.ones(*(sizes or (3,)), requires_grad=True)


def test_a_post_hook_gets_both_gradients():
    seen = []
    x, w = ones(), ones()
    y = x * w * 2
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    y.sum().backward()
    (inputs, outputs), = seen
    assert isinstance(inputs, tuple) and isinstance(outputs, tuple)
    assert inputs[0].tolist() == [2, 2, 2] and inputs[1] is None
    assert outputs[0].tolist() == [1, 1, 1]


def test_a_post_hook_may_replace_gradients():
    x = ones()
    y = x * 2
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, None))
    y.sum().backward()
    assert x.grad.tolist() == [20, 20, 20]


@pytest.mark.parametrize("result", [
    lambda grads: "text", lambda grads: (), lambda grads: grads + (None, None),
    lambda grads: (grads[0].double(), None), lambda grads: (fg.ones(4), None),
])
def test_a_wrong_result_of_a_post_hook_is_refused_and_names_the_hook(result):
    def my_hook(inputs, outputs):
        return result(inputs)

    y = ones() * 2
    y.grad_fn.register_hook(my_hook)
    with pytest.raises((RuntimeError, TypeError), match="my_hook"):
        y.sum().backward()


def test_a_post_hook_cannot_replace_none_by_a_tensor():
    x = ones()
    y = x * fg.ones(3)
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0], fg.ones(3)))
    with pytest.raises(RuntimeError, match="returned a Tensor in place of None"):
        y.sum().backward()


def test_a_prehook_gets_and_replaces_gradients_of_outputs():
    seen = []
    x = ones()
    y = x * 2

    def hook(grads):
        seen.append(grads[0].tolist())
        return (grads[0] * 3,)

    y.grad_fn.register_prehook(hook)
    y.grad_fn.register_prehook(hook)
    y.sum().backward()
    assert seen == [[1, 1, 1], [3, 3, 3]]
    assert x.grad.tolist() == [18, 18, 18]


def test_hooks_work_on_nodes_of_custom_functions():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = ones()
    y = Double.apply(x)
    y.grad_fn.register_prehook(lambda grads: (grads[0] + 1,))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + 5,))
    y.sum().backward()
    assert x.grad.tolist() == [9, 9, 9]


def test_hooks_work_on_accumulators():
    seen = []
    x = ones()
    node = get_gradient_edge(x).node
    node.register_prehook(lambda grads: (grads[0] * 2,))
    node.register_hook(lambda inputs, outputs: seen.append((inputs, outputs[0].tolist())))
    x.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    assert seen == [((), [2, 2, 2])]


def test_handles_remove_hooks():
    x = ones()
    y = x * 2
    handles = [y.grad_fn.register_prehook(lambda g: (g[0] * 100,)),
               y.grad_fn.register_hook(lambda i, o: (i[0] * 100, None)),
               y.register_hook(lambda g: g * 100),
               x.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(100) and None)]
    for handle in handles:
        handle.remove()
        handle.remove()
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_a_handle_is_a_context_manager():
    x = ones()
    with x.register_hook(lambda g: g * 10):
        x.sum().backward()
    x.sum().backward()
    assert x.grad.tolist() == [11, 11, 11]


def test_a_nameless_hook_may_fail():
    class Nameless:
        def __call__(self, inputs, outputs):
            return "text"

    y = ones() * 2
    y.grad_fn.register_hook(Nameless())
    with pytest.raises(TypeError, match="the hook '<nameless>' returned str"):
        y.sum().backward()


def test_a_hook_may_remove_itself_while_running():
    calls = []
    x = ones()

    def hook(grad):
        calls.append(1)
        handle.remove()

    handle = x.register_hook(hook)
    other = []
    x.register_hook(lambda grad: other.append(1))
    x.sum().backward()
    x.sum().backward()
    assert len(calls) == 1 and len(other) == 2


def test_exceptions_of_hooks_keep_their_type():
    class Special(Exception):
        pass

    def fail(*args):
        raise Special("from a hook")

    for register in (lambda x, y: y.register_hook, lambda x, y: y.grad_fn.register_hook,
                     lambda x, y: y.grad_fn.register_prehook,
                     lambda x, y: x.register_post_accumulate_grad_hook):
        x = ones()
        y = x * 2
        register(x, y)(fail)
        with pytest.raises(Special, match="from a hook"):
            y.sum().backward()


def test_the_order_of_hooks_for_one_node():
    order = []
    x = ones()
    y = x * 2
    node = y.grad_fn
    node.register_hook(lambda i, o: order.append("post"))
    node.register_prehook(lambda g: order.append(("pre", y.grad is not None)))
    y.retain_grad()
    y.register_hook(lambda g: order.append(("tensor 1", y.grad is not None)))
    y.register_hook(lambda g: order.append(("tensor 2", y.grad is not None)))
    y.sum().backward()
    assert order == [("tensor 1", False), ("tensor 2", False), ("pre", True), "post"]


def test_the_order_of_hooks_for_a_leaf():
    order = []
    x = ones()
    node = get_gradient_edge(x).node
    node.register_hook(lambda i, o: order.append("post"))
    x.register_post_accumulate_grad_hook(lambda t: order.append("accumulated"))
    node.register_prehook(lambda g: order.append("pre"))
    x.register_hook(lambda g: order.append("tensor"))
    x.sum().backward()
    assert order == ["tensor", "pre", "accumulated", "post"]


def test_retain_grad_sees_what_tensor_hooks_returned():
    x = ones()
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 7)
    y.grad_fn.register_prehook(lambda g: (g[0] * 3,))
    y.sum().backward()
    assert y.grad.tolist() == [7, 7, 7] and x.grad.tolist() == [42, 42, 42]


def test_a_tensor_hook_fires_for_an_input_of_grad_whose_node_does_not_run():
    calls = []
    x = ones()
    y = x * 2
    y.register_hook(lambda g: calls.append(g.tolist()) or g * 5)
    y.grad_fn.register_prehook(lambda g: calls.append("node ran"))
    (grad,) = fg.autograd.grad((y * 3).sum(), y)
    assert calls == [[3, 3, 3]] and grad.tolist() == [15, 15, 15]


def test_a_tensor_hook_needs_requires_grad():
    with pytest.raises(RuntimeError, match="require"):
        fg.ones(3).register_hook(lambda g: g)


@pytest.mark.parametrize("result, kind, message", [
    (lambda g: "text", TypeError, "returned str; expected a Tensor or None"),
    (lambda g: fg.ones(5), RuntimeError, "changed the size of the gradient"),
])
def test_a_wrong_result_of_a_tensor_hook_is_refused(result, kind, message):
    x = ones()
    x.register_hook(result)
    with pytest.raises(kind, match=message):
        x.sum().backward()


@pytest.mark.parametrize("wrong", [None, 3, "text"])
def test_what_cannot_be_called_is_no_hook(wrong):
    x = ones()
    y = x * 2
    for register in (x.register_hook, y.grad_fn.register_hook, y.grad_fn.register_prehook,
                     x.register_post_accumulate_grad_hook):
        with pytest.raises(TypeError):
            register(wrong)


def test_a_tensor_hook_stays_with_the_old_node_and_retain_grad_moves():
    seen = []
    x = ones()
    y = x * 2
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.retain_grad()
    y.mul_(10)
    y.sum().backward()
    assert seen == [[10, 10, 10]]
    assert y.grad.tolist() == [1, 1, 1]


def test_a_post_accumulate_hook_gets_the_tensor_with_its_gradient():
    seen = []
    x = ones()

    def step(parameter):
        seen.append((parameter is x, parameter.grad.tolist()))
        with fg.no_grad():
            parameter.sub_(parameter.grad)
        parameter.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 2).sum().backward()
    assert seen == [(True, [2, 2, 2])]
    assert x.tolist() == [-1, -1, -1] and x.grad is None


def test_a_post_accumulate_hook_must_return_nothing():
    x = ones()
    x.register_post_accumulate_grad_hook(lambda t: t)
    with pytest.raises(TypeError, match="returned a value; it should return None"):
        x.sum().backward()


def test_post_accumulate_hooks_are_for_leaves():
    with pytest.raises(RuntimeError, match="leaf"):
        (ones() * 2).register_post_accumulate_grad_hook(lambda t: None)


def test_hooks_of_nodes_that_do_not_run_are_not_called():
    calls = []
    x, w = ones(), ones()
    a, b = x * 2, w * 3
    b.grad_fn.register_hook(lambda i, o: calls.append("b"))
    a.grad_fn.register_hook(lambda i, o: calls.append("a"))
    fg.autograd.grad((a + b).sum(), x)
    assert calls == ["a"]

"""Custom functions: how outputs are wrapped, and how backward runs."""

import foregrad as fg
import pytest
from foregrad.autograd import Function
from foregrad.autograd.function import once_differentiable


def ones(*sizes):
    return fg.ones(*(sizes or (3,)), requires_grad=True)


def function(forward, backward=lambda ctx, *grads: grads[0], **attributes):
    """A Function class from two functions."""
    attributes |= {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (Function,), attributes)


def giving(*grads):
    """A Function whose backward gives these."""
    return function(lambda ctx, x, *rest: x * 2, lambda ctx, grad: grads)


def test_an_input_returned_as_it_is_becomes_a_view_of_it():
    x = ones()
    y = function(lambda ctx, x: x, lambda ctx, grad: grad * 7).apply(x)
    assert y is not x and y.data_ptr() == x.data_ptr()
    assert y.grad_fn.name() == "MadeBackward" and x.grad_fn is None
    y.sum().backward()
    assert x.grad.tolist() == [7, 7, 7]


def test_an_input_without_grad_returned_as_it_is_stays_as_it_is():
    a, b = fg.ones(3), ones()
    same, _ = function(lambda ctx, a, b: (a, b * 2), lambda ctx, g, h: (g, h)).apply(a, b)
    assert not a.requires_grad and same.requires_grad


def test_the_same_tensor_may_be_returned_twice():
    def forward(ctx, x):
        y = x * 2
        return y, y

    x = ones()
    a, b = function(forward, lambda ctx, g, h: g + h * 10).apply(x)
    assert a is b and a.output_nr == 1  # the last place is the one that has the history
    (a.sum() + b.sum()).backward()
    assert x.grad.tolist() == [20, 20, 20]


def test_an_input_changed_in_place_may_be_returned_twice():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x, x

    source = ones()
    y = source.clone()
    a, b = function(forward, lambda ctx, g, h: g + h * 10).apply(y)
    assert a is y and b is y and y.grad_fn.name() == "MadeBackward" and y.output_nr == 1
    (a * 3).sum().backward()
    assert source.grad.tolist() == [30, 30, 30]


def test_views_made_inside_cannot_be_modified_in_place():
    y = function(lambda ctx, x: x.view(-1), lambda ctx, grad: grad).apply(ones())
    with pytest.raises(RuntimeError, match="returned by a custom Function.*clone the output"):
        y.add_(1)


def test_views_among_several_outputs_cannot_be_modified_in_place():
    made = function(lambda ctx, x: (x.view(-1), x * 2), lambda ctx, g, h: g)
    view, _ = made.apply(ones())
    with pytest.raises(RuntimeError, match="output of a function that returns several views"):
        view.add_(1)


def test_backward_may_give_no_gradient_at_all():
    x, z = ones(), ones()
    (giving(None).apply(x) + z).sum().backward()
    assert x.grad is None and z.grad.tolist() == [1, 1, 1]
    assert fg.autograd.grad(giving(None).apply(x).sum(), x, allow_unused=True) == (None,)


def test_some_gradients_may_be_none():
    a, b = ones(), ones()
    giving(None, fg.ones(3)).apply(a, b).sum().backward()
    assert a.grad is None and b.grad.tolist() == [1, 1, 1]


@pytest.mark.parametrize("grads, got", [((), 0), ((fg.ones(3),), 1), ((fg.ones(3),) * 3, 3)])
def test_a_wrong_number_of_gradients_says_expected_and_got(grads, got):
    with pytest.raises(RuntimeError, match=rf"expected 2.*got {got}"):
        giving(*grads).apply(ones(), ones()).sum().backward()


def test_surplus_gradients_are_allowed_when_none():
    x = ones()
    giving(fg.ones(3), None, None).apply(x).sum().backward()
    assert x.grad.tolist() == [1, 1, 1]


def test_a_gradient_for_what_is_no_tensor_names_the_position():
    with pytest.raises(RuntimeError, match="None at position 1, but the argument"):
        giving(fg.ones(3), fg.ones(3)).apply(ones(), "text").sum().backward()
    with pytest.raises(RuntimeError, match="None at position 2, but the argument"):
        giving(fg.ones(3), None, fg.ones(3)).apply(ones(), "text", 4).sum().backward()


def test_a_gradient_that_is_no_tensor_names_the_type():
    with pytest.raises(RuntimeError, match="returned str at position 0; expected a Tensor or None"):
        giving("text").apply(ones()).sum().backward()


def test_broadcast_gradients_are_summed_to_the_input():
    x = ones(1)
    function(lambda ctx, x: x.expand(4) * 2, lambda ctx, grad: grad).apply(x).sum().backward()
    assert x.grad.tolist() == [4]


def test_gradients_are_cast_to_the_dtype_of_the_input():
    x = ones()
    function(lambda ctx, x: x.double(), lambda ctx, grad: grad).apply(x).sum().backward()
    assert x.grad.dtype == fg.float32


def test_a_gradient_of_a_wrong_shape_names_node_and_shapes():
    with pytest.raises(RuntimeError, match="MadeBackward.*invalid gradient at index 0.*4.*3"):
        giving(fg.ones(4)).apply(ones()).sum().backward()


def cubed(backward=lambda ctx, grad: grad * 3 * ctx.saved_tensors[0] ** 2):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    return function(forward, backward)


def test_backward_of_differentiable_operations_can_be_differentiated():
    x = fg.tensor([2.0], requires_grad=True)
    (first,) = fg.autograd.grad(cubed().apply(x).sum(), x, create_graph=True)
    (second,) = fg.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = fg.autograd.grad(second.sum(), x)
    assert [t.item() for t in (first, second, third)] == [12, 12, 6]


def test_gradcheck_accepts_custom_functions():
    x = fg.tensor([0.3, -0.7], dtype=fg.float64, requires_grad=True)
    assert fg.autograd.gradcheck(cubed().apply, (x,))
    assert fg.autograd.gradgradcheck(cubed().apply, (x,))


def test_gradcheck_finds_a_wrong_backward():
    x = fg.tensor([0.3, -0.7], dtype=fg.float64, requires_grad=True)
    wrong = cubed(lambda ctx, grad: grad * 2)
    with pytest.raises(RuntimeError):
        fg.autograd.gradcheck(wrong.apply, (x,))
    assert fg.autograd.gradcheck(wrong.apply, (x,), raise_exception=False) is False


def test_once_differentiable_runs_without_grad_and_refuses_the_second():
    seen = []

    @once_differentiable
    def backward(ctx, grad):
        seen.append(fg.is_grad_enabled())
        return grad * 3 * ctx.saved_tensors[0] ** 2

    x = ones()
    y = cubed(backward).apply(x)
    weight = ones()
    (first,) = fg.autograd.grad((y * weight).sum(), x, create_graph=True)
    assert seen == [False] and first.tolist() == [3, 3, 3]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_once_differentiable_gives_plain_gradients_without_create_graph():
    x = ones()
    backward = once_differentiable(lambda ctx, grad: grad * 4)
    cubed(backward).apply(x).sum().backward()
    assert x.grad.tolist() == [4, 4, 4] and x.grad.grad_fn is None


def test_backward_may_call_backward():
    def backward(ctx, grad):
        with fg.enable_grad():
            x = ctx.saved_tensors[0].detach().requires_grad_()
            (x ** 3).sum().backward()
        return grad * x.grad

    x = ones()
    cubed(backward).apply(x).sum().backward()
    assert x.grad.tolist() == [3, 3, 3]


def test_backward_inside_backward_goes_to_any_depth():
    depth = 200

    class Deep(Function):
        @staticmethod
        def forward(ctx, x, level):
            ctx.level = level
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            if ctx.level:
                with fg.enable_grad():
                    x = ones()
                    Deep.apply(x, ctx.level - 1).sum().backward()
                return grad + x.grad, None
            return grad, None

    x = ones()
    Deep.apply(x, depth).sum().backward()
    assert x.grad.tolist() == [depth + 1] * 3

"""backward and grad: materialized gradients, inputs by name, old arguments, deep calls."""

import contextvars
from collections import ChainMap, OrderedDict, UserDict
from collections.abc import Mapping
from types import MappingProxyType

import foregrad as fg
import pytest
from foregrad.autograd import backward, grad
from foregrad.autograd.graph import get_gradient_edge


def ones(*sizes):
    return fg.ones(*(sizes or (3,)), requires_grad=True)


def test_materialized_gradients_take_edges_that_got_one():
    x, y = ones(2), ones(3)
    z = x * 2
    to_x = get_gradient_edge(x)
    assert grad((x * 2).sum(), to_x, materialize_grads=True)[0].tolist() == [2, 2]
    unused, used = grad(z.sum(), (y, to_x), materialize_grads=True)
    assert unused.tolist() == [0, 0, 0] and used.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="input 0, which got no gradient, is a gradient edge"):
        grad((x * 2).sum(), get_gradient_edge(y), materialize_grads=True)


@pytest.mark.parametrize("create", [False, True])
def test_materialized_zeros_are_like_their_input(create):
    x, y = ones(2), fg.ones(3, 2, dtype=fg.float64).t().requires_grad_()
    zeros = grad((x * 2).sum(), y, materialize_grads=True, create_graph=create)[0]
    assert zeros.stride() == y.stride() and zeros.dtype == y.dtype and zeros.count_nonzero() == 0
    assert zeros.requires_grad == create


@pytest.mark.parametrize("outputs", [lambda x: fg.ones(2).sum(),
                                     lambda x: ((x * 1).sum(), fg.ones(2).sum())])
def test_materialized_gradients_need_outputs_with_a_history(outputs):
    x = ones(2)
    with pytest.raises(RuntimeError, match="does not require grad"):
        grad(outputs(x), x, materialize_grads=True)
    with pytest.raises(RuntimeError, match="does not require grad"):
        grad((x * 1).sum(), fg.ones(2), materialize_grads=True)


class Other(Mapping):
    def __init__(self, given):
        self.given = given

    def __getitem__(self, key):
        return self.given[key]

    def __iter__(self):
        return iter(self.given)

    def __len__(self):
        return len(self.given)


@pytest.mark.parametrize("kind", [OrderedDict, UserDict, Other, MappingProxyType, ChainMap])
def test_inputs_by_name_come_in_a_dict(kind):
    x, y = ones(2), ones(2)
    assert list(grad((x * y).sum(), {"x": x, "y": y})) == ["x", "y"]
    (x * y).sum().backward(inputs={"x": x})
    assert x.grad.tolist() == [1, 1] and y.grad is None
    named = kind({"x": x})
    for call in (lambda: grad((x * 2).sum(), named), lambda: (x * 2).sum().backward(inputs=named),
                 lambda: backward((x * 2).sum(), inputs=named)):
        with pytest.raises(TypeError, match=f"inputs must be a dict, not {kind.__name__}"):
            call()


def test_backward_that_makes_a_graph_warns_once_in_a_process(run_program):
    run_program("""
        import warnings
        import foregrad as fg

        def warned(**arguments):
            x = fg.ones(2, requires_grad=True)
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                (x * x).sum().backward(**arguments)
            return [(one.category, "reference cycle" in str(one.message)) for one in seen]

        x = fg.ones(2, requires_grad=True)
        assert warned() == warned(retain_graph=True) == []
        fg.autograd.grad((x * x).sum(), x, create_graph=True)
        assert warned(create_graph=True) == [(UserWarning, True)]
        assert warned(create_graph=True) == []
    """)


def test_old_arguments_warn():
    x = ones(2)
    with pytest.warns(FutureWarning, match="only_inputs"):
        grad((x * 2).sum(), x, only_inputs=False)
    with pytest.warns(FutureWarning, match="grad_variables"):
        backward(x * 2, grad_variables=fg.ones(2))
    assert x.grad.tolist() == [2, 2]
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="the same argument"):
        backward(x * 2, fg.ones(2), grad_variables=fg.ones(2))


def test_context_variables_are_there_however_deep_a_backward_is():
    variable, seen = contextvars.ContextVar("variable", default="none"), []

    class Deep(fg.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(variable.get())
            if ctx.depth > 0:
                with fg.enable_grad():
                    Deep.apply(ones(1), ctx.depth - 1).backward()
            return g, None

    variable.set("set")
    Deep.apply(ones(1), 150).backward()
    assert seen == ["set"] * 151
    y = ones(1) * 2
    y.register_hook(lambda g: variable.set("of the hook") and None)
    y.backward()
    assert variable.get() == "of the hook"

"""The joint graph: tangents and gradients, what is saved, random numbers."""

import re

import foregrad as fg
import pytest
from capture_compare import (alike, elements, gradients, graphs_of, leaf, nonleaf, plain,
                             versions_of)
from capture_custom import Both, Cube, Pair, Scale


def inputs_of(graph):
    return [node.target for node in graph.nodes if node.op == "placeholder"]


def outputs_of(graph):
    return graph.nodes[-1].args[0] if isinstance(graph.nodes[-1].args[0], (list, tuple)) \
        else graph.nodes[-1].args


def test_the_backward_takes_tangents_and_returns_gradients():
    forward, backward = graphs_of(lambda x, y: x * y, leaf(3), leaf(3))
    assert len(inputs_of(forward[0])) == 2
    assert sum("tangent" in name for name in inputs_of(backward[0])) == 1


def test_inputs_without_gradients_have_none():
    def f(x, y):
        return x * y

    alike(f, lambda: [leaf(3), plain(3)])
    x, y = leaf(3), plain(3)
    fg.compile(f, fullgraph=True)(x, y).sum().backward()
    assert y.grad is None and x.grad is not None


def test_inputs_that_are_not_used_have_no_gradient():
    alike(lambda x, y: x * 2, lambda: [leaf(3), leaf(3)])


def test_only_results_that_require_grad_have_tangents():
    def f(x, y):
        return x * 2, y * 2, x.t(), (x > 1), x.argmax()

    _, backward = graphs_of(f, leaf(2, 3), plain(2, 3))
    assert sum("tangent" in name for name in inputs_of(backward[0])) == 1
    alike(f, lambda: [leaf(2, 3), plain(2, 3)])


def test_written_inputs_have_tangents():
    def f(x, w):
        x.mul_(w)
        return w * 2

    alike(f, lambda: [plain(3), leaf(3)])


def test_gradients_of_some_results_only():
    def f(x, y):
        return x * y, x.sin(), y.exp()

    def outcome(function):
        x, y = leaf(3), leaf(3)
        a, b, c = function(x, y)
        seen = []
        for chosen in ([a], [b], [c], [a, c], [c, b], [a, b, c]):
            seen += gradients(chosen, [x, y])
        return seen

    assert outcome(fg.compile(f, fullgraph=True)) == outcome(f)


@pytest.mark.parametrize("layout", ["contiguous", "transposed", "expanded", "sliced"])
def test_tangents_of_any_layout(layout):
    def tangent():
        values = plain(4, 6)
        return {"contiguous": values[:2, :3].contiguous(), "sliced": values[:2, ::2],
                "transposed": values[:3, :2].t(), "expanded": values[0, :3].expand(2, 3)}[layout]

    def outcome(function):
        x = leaf(2, 3)
        (grad,) = fg.autograd.grad(function(x), x, tangent())
        return elements(grad).tolist()

    for f in (lambda x: x.sin(), lambda x: x.t().sin().t(), lambda x: x.exp().t().clone().t()):
        assert outcome(fg.compile(f, fullgraph=True)) == outcome(f)


def test_an_expanded_result_has_a_tangent():
    alike(lambda x: (x * 2).expand(4, 3), lambda: [leaf(3)])


def test_a_tangent_may_be_an_input():
    def outcome(function):
        x = leaf(3)
        return fg.autograd.grad(function(x), x, x.detach())[0].tolist()

    def f(x):
        return x * x

    assert outcome(fg.compile(f, fullgraph=True)) == outcome(f)


def test_the_same_tangent_for_two_results():
    def outcome(function):
        x, tangent = leaf(3), plain(3)
        return fg.autograd.grad(function(x), x, [tangent, tangent])[0].tolist()

    def f(x):
        return x.sin(), x.cos()

    assert outcome(fg.compile(f, fullgraph=True)) == outcome(f)


def test_a_scalar_result_needs_no_tangent():
    def outcome(function):
        x = leaf(3)
        function(x).backward()
        return x.grad.tolist()

    def f(x):
        return (x.sin() * x).sum()

    compiled = fg.compile(f, fullgraph=True)
    assert outcome(compiled) == outcome(f)
    assert compiled(leaf(3)).grad_fn.name() == "CompiledFunctionBackward"
    _, backward = graphs_of(f, leaf(3))
    assert "float64[] tangent 0" in str(backward[0])  # the implicit gradient, a scalar too


def test_a_gradient_of_a_scalar_taken_inside_of_the_function_has_no_tangent():
    def step(x):
        loss = (x.sin() * x).sum()
        return loss.detach(), *fg.autograd.grad(loss, x)

    forward, backward = graphs_of(step, leaf(3))
    assert len(inputs_of(forward[0])) == 1 and not backward
    assert "tangent" not in str(forward[0]) and "cos(" in str(forward[0])
    alike(step, lambda: [leaf(3)])

    def wrong(x):
        return fg.autograd.grad(x.sin(), x)[0]

    with pytest.raises(RuntimeError, match="only for scalar outputs, but output 0 has sizes"):
        fg.compile(wrong, fullgraph=True)(leaf(3))


def test_a_result_that_is_no_scalar_is_an_error_as_in_eager():
    compiled = fg.compile(lambda x: x * 2, fullgraph=True)
    for function in (lambda x: x * 2, compiled):
        with pytest.raises(RuntimeError, match="only for scalar outputs"):
            function(leaf(3)).backward()
    assert versions_of(compiled) == 1
    assert compiled(leaf(3)).grad_fn.name() == "CompiledFunctionBackward"


def test_what_is_not_used_is_not_computed():
    def f(x):
        (x @ x.t()).exp().sum()
        return x * 2

    for x in (plain(3, 3), leaf(3, 3)):
        forward, backward = graphs_of(f, x)
        assert len(forward) == 1 and len(backward) == x.requires_grad
        for graph in forward + backward:
            names = [node.target for node in graph.nodes if node.op == "call_function"]
            assert names == ["constant", "mul"]


def test_graphs_do_not_write():
    def f(x):
        y = x * 2
        y.add_(1)
        y[0].mul_(3)
        x.copy_(y)

    forward, _ = graphs_of(f, plain(2, 3))
    assert not [node for node in forward[0].nodes if node.target.endswith("_")]
    assert re.search(r"return %\d+: mutation 0\n", str(forward[0]))  # x anew, as a result
    x, expected = plain(2, 3), plain(2, 3)
    f(expected)
    assert [t.tolist() for t in forward[0](x)] == [expected.tolist()]
    assert x.tolist() == plain(2, 3).tolist() and x._version == 0


def test_errors_in_captured_code_name_the_line_of_the_user():
    def f(x, i):
        y = x * 2
        return y[i].sin()

    line = f.__code__.co_firstlineno + 2
    compiled = fg.compile(f, fullgraph=True)
    compiled(plain(3), fg.tensor([0, 1]))
    with pytest.raises(IndexError, match=rf"captured from .*capture_joint_test\.py:{line}\)"):
        compiled(plain(3), fg.tensor([0, 7]))
    assert versions_of(compiled) == 1


def test_the_backward_of_a_line_is_of_that_line():
    def f(x):
        y = x.sin()
        z = y.tanh()
        return z.exp()

    def lines_of(graph):
        found = re.findall(r"= (\w+)\(.*capture_joint_test\.py:(\d+)", str(graph))
        return {(name, int(line) - f.__code__.co_firstlineno) for name, line in found}

    forward, backward = graphs_of(f, leaf(3))
    assert lines_of(forward[0]) == {("sin", 1), ("tanh", 2), ("exp", 3)}
    assert lines_of(backward[0]) == {("cos", 1), ("mul", 1), ("tanh_backward", 2), ("mul", 3)}
    operations = [text for text in str(backward[0]).splitlines() if " = " in text]
    assert len(operations) == len([text for text in operations if "backward at" in text])


def test_random_numbers_are_those_of_eager():
    def f(x):
        y = fg.nn.functional.dropout(x, 0.5)
        z = y * fg.rand_like(x) + fg.randn(3, dtype=fg.float64)
        return z, fg.bernoulli(x.sigmoid()), fg.randperm(5), x.detach().clone().uniform_()

    alike(f, lambda: [leaf(4, 3)], calls=3)


def test_the_generator_advances_as_in_eager():
    def f(x):
        return x * fg.rand_like(x)

    compiled = fg.compile(f, fullgraph=True)

    def outcome(function):
        fg.manual_seed(9)
        seen = [function(plain(3)).tolist() for _ in range(3)]
        return seen, fg.rand(2).tolist(), fg.get_rng_state().tolist()

    assert outcome(compiled) == outcome(f) == outcome(compiled)


def test_a_generator_of_ones_own():
    generator = fg.Generator()

    def f(x):
        return x * fg.rand(3, generator=generator, dtype=fg.float64)

    def outcome(function):
        generator.manual_seed(4)
        return [function(plain(3)).tolist() for _ in range(2)]

    assert outcome(fg.compile(f, fullgraph=True)) == outcome(f)


def test_the_backward_sees_the_random_numbers_of_its_forward():
    def f(x):
        return fg.nn.functional.dropout(x * x, 0.5)

    def outcome(function):
        fg.manual_seed(2)
        xs = [leaf(20) for _ in range(3)]
        pending = [function(x) for x in xs]
        fg.rand(7)
        seen = []
        for i in (1, 2, 0):
            seen += [fg.autograd.grad(pending[i].sum(), xs[i], retain_graph=True)[0].tolist()] * 2
            (again,) = fg.autograd.grad(pending[i].sum(), xs[i], create_graph=True)
            seen.append(fg.autograd.grad(again.sum(), xs[i])[0].tolist())
        return seen

    assert outcome(fg.compile(f, fullgraph=True)) == outcome(f)


@pytest.mark.parametrize("function", [
    lambda x: Cube.apply(x), lambda x: Scale.apply(x, 3.0).sin(), lambda x: Both.apply(x),
    lambda x: Both.apply(x)[1], lambda x: Pair.apply(x, x * 2), lambda x: Cube.apply(x * 2).sum()])
def test_custom_functions_are_traced_through(function):
    alike(function, lambda: [leaf(2, 3)])


def test_custom_functions_are_differentiated_twice():
    def outcome(function):
        x = leaf(3)
        (grad,) = fg.autograd.grad(function(x).sum(), x, create_graph=True)
        return grad.tolist(), fg.autograd.grad(grad.sum(), x)[0].tolist()

    def f(x):
        return Cube.apply(x * 2)

    assert outcome(fg.compile(f, fullgraph=True)) == outcome(f)


def test_gradients_inside_of_the_function():
    def f(x):
        y = (x ** 3).sum()
        (grad,) = fg.autograd.grad(y, x, create_graph=True)
        return grad * 2

    alike(f, lambda: [leaf(3)])
    alike(lambda x: f(x * 1.0), lambda: [leaf(3)])


def test_gradients_inside_of_the_function_call_the_hooks_of_the_caller():
    def f(x):
        return fg.autograd.grad((x ** 2).sum(), x)[0]

    def outcome(function):
        x = leaf(3)
        x.register_hook(lambda g: g * 10)
        return function(x).tolist()

    with pytest.warns(UserWarning, match="runs eagerly: .* gradients of a tensor that has hooks"):
        assert outcome(fg.compile(f)) == outcome(f)
    with pytest.raises(RuntimeError, match="gradients of a tensor that has hooks"):
        outcome(fg.compile(f, fullgraph=True))


def test_grad_mode_switched_on_inside_of_the_function():
    def f(x):
        with fg.enable_grad():
            return x * 2

    alike(f, lambda: [leaf(3)])
    tensor, _ = nonleaf(3)
    assert fg.compile(f, fullgraph=True)(tensor).requires_grad


def test_grad_mode_switched_on_inside_of_a_function_called_under_no_grad():
    def f(x):
        with fg.enable_grad():
            return x * 2

    with fg.no_grad():
        assert fg.compile(f, fullgraph=True)(leaf(3)).requires_grad


def test_an_input_whose_shape_is_changed_in_place_and_a_second_derivative():
    def function(x, shaped):
        with fg.no_grad():
            shaped.unsqueeze_(0)
        return x.pow(3).sum()

    def second(function):
        x, shaped = fg.ones(3, requires_grad=True), fg.zeros(3)
        grad, = fg.autograd.grad(function(x, shaped), x, create_graph=True)
        return fg.autograd.grad(grad.sum(), x)[0].tolist(), shaped.shape

    assert second(fg.compile(function, fullgraph=True)) == second(function)

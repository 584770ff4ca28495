"""Gradient edges and versions."""

import foregrad as fg
import pytest
from foregrad.autograd.graph import GradientEdge, get_gradient_edge, increment_version


def ones(*sizes):
    return fg.ones(*(sizes or (3,)), requires_grad=True)


def test_the_edge_of_a_tensor_is_its_node_and_output():
    x = ones()
    a, b = x.split(2)
    edge = get_gradient_edge(b)
    assert isinstance(edge, GradientEdge)
    assert edge.node is b.grad_fn and edge.output_nr == 1
    assert a.output_nr == 0


def test_the_edge_of_a_leaf_is_its_accumulator_even_without_grad_mode():
    x = ones()
    with fg.no_grad():
        edge = get_gradient_edge(x)
    assert edge.node.variable is x and edge.output_nr == 0
    assert edge.node is x.exp().grad_fn.next_functions[0][0]


def test_the_edge_of_a_tensor_without_grad_is_refused():
    with pytest.raises(RuntimeError, match="require"):
        get_gradient_edge(fg.ones(3))


def test_edges_are_inputs_and_outputs_of_grad():
    x = ones()
    y = x * 2
    z = (y * 3).sum()
    (grad,) = fg.autograd.grad(get_gradient_edge(z), get_gradient_edge(y), retain_graph=True)
    assert grad.tolist() == [3, 3, 3]
    a, b = fg.autograd.grad([z], [get_gradient_edge(y), x], retain_graph=True)
    assert a.tolist() == [3, 3, 3] and b.tolist() == [6, 6, 6]
    (c,) = fg.autograd.grad(get_gradient_edge(y), x, grad_outputs=fg.ones(3))
    assert c.tolist() == [2, 2, 2]


def test_edges_are_inputs_and_outputs_of_backward():
    x, w = ones(), ones()
    z = (x * 2 * w).sum()
    fg.autograd.backward(get_gradient_edge(z), inputs=[get_gradient_edge(x)])
    assert x.grad.tolist() == [2, 2, 2] and w.grad is None


def test_an_edge_keeps_the_graph_alive():
    x = ones()
    edge = get_gradient_edge((x * 2).sum())
    (grad,) = fg.autograd.grad(edge, x)
    assert grad.tolist() == [2, 2, 2]


def test_a_scalar_edge_needs_no_gradient_and_others_do():
    x = ones()
    y = x * 2
    with pytest.raises(RuntimeError, match="scalar"):
        fg.autograd.grad(get_gradient_edge(y), x)


def test_materialised_gradients_of_an_edge_are_refused():
    x, w = ones(), ones()
    with pytest.raises(RuntimeError):
        fg.autograd.grad(x.sum(), [get_gradient_edge(w)], materialize_grads=True)


def test_a_wrong_point_is_a_type_error():
    x = ones()
    for wrong in (3, "text", [3]):
        with pytest.raises(TypeError, match="expected Tensors|not iterable"):
            fg.autograd.grad(x.sum(), wrong)
        with pytest.raises(TypeError, match="expected Tensors|not iterable"):
            fg.autograd.grad(wrong, x)


@pytest.mark.parametrize("number", [1, 5, 10**6, -1])
def test_an_output_number_that_the_node_has_not_is_refused(number, run_program):
    # In a process of its own: reading beyond a node's outputs may bring the interpreter down.
    run_program(f"""
        import foregrad as fg

        x = fg.ones(3, requires_grad=True)
        y = x.sum()
        wrong = fg.autograd.graph.GradientEdge(y.grad_fn, {number})
        for outputs, inputs in ((wrong, x), (y * 2, wrong)):
            try:
                fg.autograd.grad(outputs, inputs, grad_outputs=fg.tensor(1.0))
            except (RuntimeError, IndexError, ValueError, TypeError) as error:
                assert "output" in str(error) and "std::" not in str(error), error
            else:
                raise AssertionError("no error")
    """)


def test_increment_version_marks_tensors_as_modified():
    a, b = fg.ones(3), fg.ones(3)
    increment_version(a)
    increment_version([a, b])
    increment_version(iter((a, b)))
    assert (a._version, b._version) == (3, 2)


def test_increment_version_makes_saved_values_stale():
    x = ones()
    y = x * x
    increment_version(x)
    with pytest.raises(RuntimeError, match="inplace"):
        y.sum().backward()


@pytest.mark.parametrize("wrong", [3, None, [3], ["text"]])
def test_increment_version_wants_tensors(wrong):
    with pytest.raises(TypeError, match="not iterable|_increment_version"):
        increment_version(wrong)


def test_increment_version_skips_inference_tensors():
    with fg.inference_mode():
        a = fg.ones(3)
    increment_version(a)
    increment_version([a, fg.ones(2)])

"""Nodes of the graph: names, edges, metadata, attributes and saved values."""

import gc

import foregrad as fg
import pytest
from foregrad.autograd import Function
from foregrad.autograd.graph import Node


def ones(*sizes):
    return fg.ones(*(sizes or (3,)), requires_grad=True)


class Double(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_every_node_is_a_Node():
    x = ones()
    edge = fg.autograd.graph.get_gradient_edge(x)
    for node in (x.exp().grad_fn, Double.apply(x).grad_fn, edge.node):
        assert isinstance(node, Node)
    assert issubclass(type(x.exp().grad_fn), Node)
    assert not isinstance(x, Node) and not isinstance(3, Node)


def test_nodes_cannot_be_made_by_hand():
    with pytest.raises(TypeError):
        Node()
    with pytest.raises(TypeError):
        type(ones().exp().grad_fn)()


@pytest.mark.parametrize("make, name", [
    (lambda x: x + 1, "AddBackward0"), (lambda x: x * x, "MulBackward0"),
    (lambda x: x.sum(), "SumBackward0"), (lambda x: x.sum(0), "SumBackward1"),
    (lambda x: x.exp(), "ExpBackward0"), (lambda x: x.view(3, 1), "ViewBackward0"),
    (lambda x: x[0], "SelectBackward0"), (lambda x: x[0:1], "SliceBackward0"),
    (lambda x: x.clone(), "CloneBackward0"), (lambda x: -x, "NegBackward0"),
    (lambda x: x ** 2, "PowBackward0"), (lambda x: x / 2, "DivBackward0"),
    (lambda x: x.max(), "MaxBackward1"), (lambda x: x.softmax(0), "SoftmaxBackward0"),
])
def test_names_of_nodes_are_those_of_pytorch(make, name):
    assert make(ones()).grad_fn.name() == name


def test_a_tensor_always_shows_the_same_node_object():
    y = ones().exp()
    assert y.grad_fn is y.grad_fn
    z = y.sum()
    assert z.grad_fn.next_functions[0][0] is y.grad_fn
    assert hash(y.grad_fn) == hash(y.grad_fn) and y.grad_fn != z.grad_fn


def test_next_functions_are_pairs_and_none_for_no_edge():
    x = ones()
    a, b = x.split(2)
    node = (b * fg.ones(1)).grad_fn
    (first, number), nothing = node.next_functions
    assert first is a.grad_fn and number == 1
    assert nothing == (None, 0)


def test_an_accumulator_knows_its_tensor():
    x = ones()
    accumulator = x.exp().grad_fn.next_functions[0][0]
    assert accumulator.variable is x
    assert accumulator.next_functions == ()
    assert accumulator is x.sin().grad_fn.next_functions[0][0]


def test_input_metadata_describes_the_gradient():
    (metadata,) = ones(2, 3).double().grad_fn._input_metadata
    assert tuple(metadata.shape) == (2, 3) and metadata.dtype == fg.float64
    assert metadata.device == fg.device("cpu")
    assert not metadata.is_nested_tensor and not metadata.is_tensor_subclass


def test_nodes_always_require_grad():
    assert ones().exp().grad_fn.requires_grad is True
    assert Double.apply(ones()).grad_fn.requires_grad is True


def test_metadata_is_a_dictionary_that_lives_with_the_node():
    y = ones().exp()
    assert y.grad_fn.metadata == {}
    y.grad_fn.metadata["key"] = [1, 2]
    gc.collect()
    assert y.grad_fn.metadata == {"key": [1, 2]}
    z = y.sum()
    del y
    gc.collect()
    assert z.grad_fn.next_functions[0][0].metadata == {"key": [1, 2]}


def test_metadata_of_custom_functions_is_a_dictionary_too():
    y = Double.apply(ones())
    y.grad_fn.metadata["a"] = 1
    assert y.grad_fn.metadata == {"a": 1}


def test_attributes_set_on_a_node_survive_while_the_graph_lives():
    y = ones().exp()
    y.grad_fn.mark = "set"
    z = Double.apply(y)
    z.grad_fn.mark = "custom"
    w = z.sum()
    del y, z
    gc.collect()
    custom = w.grad_fn.next_functions[0][0]
    assert custom.mark == "custom"
    assert custom.next_functions[0][0].mark == "set"


def test_unknown_attributes_are_attribute_errors():
    for node in (ones().exp().grad_fn, Double.apply(ones()).grad_fn):
        for name in ("unknown", "_saved_unknown", "_raw_saved_unknown", "variable"):
            with pytest.raises(AttributeError):
                getattr(node, name)


def test_sequence_numbers_grow_and_can_be_set():
    x = ones()
    first, second = x.exp().grad_fn, x.sin().grad_fn
    assert first._sequence_nr() < second._sequence_nr()
    first._set_sequence_nr(10**6)
    assert first._sequence_nr() == 10**6


def test_the_newest_node_runs_first():
    order = []
    x = ones()
    a, b, c = x.exp(), x.sin(), x.cos()
    for name, y in (("a", a), ("b", b), ("c", c)):
        y.grad_fn.register_prehook(lambda grads, name=name: order.append(name))
    (a + b + c).sum().backward()
    assert order == ["c", "b", "a"]


def test_setting_a_sequence_number_changes_the_order():
    order = []
    x = ones()
    a, b = x.exp(), x.sin()
    y = (a + b).sum()
    a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 1000)
    a.grad_fn.register_prehook(lambda grads: order.append("a"))
    b.grad_fn.register_prehook(lambda grads: order.append("b"))
    y.backward()
    assert order == ["a", "b"]


def test_nodes_can_be_called():
    node = (ones() * 3).grad_fn
    grad = node(fg.ones(3))
    grad = grad[0] if isinstance(grad, tuple) else grad
    assert grad.tolist() == [3, 3, 3]


def test_saved_values_are_attributes_of_the_node():
    x, w = ones(), ones()
    node = (x * w).grad_fn
    assert node._saved_self is x and node._saved_other is w
    y = x.exp()
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn
    assert x.sum(0).grad_fn._saved_dim == (0,)
    assert x.sum(0).grad_fn._saved_keepdim is False


def test_what_was_not_saved_is_none():
    x = ones()
    node = (x * fg.ones(3)).grad_fn
    assert node._saved_self is None
    assert node._saved_other.tolist() == [1, 1, 1]


def test_reading_saved_values_after_they_were_freed_is_an_error():
    y = ones().exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="freed"):
        y.grad_fn._saved_result


def test_raw_saved_values_unpack():
    x = ones()
    node = (x * x).grad_fn
    raw = node._raw_saved_self
    assert type(raw).__name__ == "SavedTensor"
    assert raw.unpack() is x
    node = Double.apply(x).grad_fn
    assert [s.unpack() is x for s in node._raw_saved_tensors] == [True]


def test_saved_tensor_objects_cannot_be_made_by_hand():
    kind = type(ones().exp().grad_fn._raw_saved_result)
    with pytest.raises(TypeError, match="no constructor"):
        kind()


def test_hooks_can_be_set_on_a_raw_saved_value():
    x = ones()
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 2, lambda t: t * 5)
    assert y.grad_fn._saved_self.tolist() == [10, 10, 10]
    y.sum().backward()
    assert x.grad.tolist() == [11, 11, 11]


def test_hooks_twice_on_a_raw_saved_value_are_refused():
    raw = ones().exp().grad_fn._raw_saved_result
    raw.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="already"):
        raw.register_hooks(lambda t: t, lambda t: t)


def test_hooks_on_a_freed_value_are_refused():
    y = ones().exp()
    raw = y.grad_fn._raw_saved_result
    y.sum().backward()
    with pytest.raises(RuntimeError, match="freed|released"):
        raw.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="freed|released|second time"):
        raw.unpack()


def test_hooks_on_a_saved_none_are_refused():
    raw = (ones() * fg.ones(3)).grad_fn._raw_saved_self
    with pytest.raises(RuntimeError, match="None"):
        raw.register_hooks(lambda t: t, lambda t: t)


@pytest.mark.parametrize("hooks", [(3, len), (len, 3), (None, None)])
def test_hooks_of_a_saved_value_must_be_callable(hooks):
    with pytest.raises(TypeError):
        ones().exp().grad_fn._raw_saved_result.register_hooks(*hooks)


@pytest.mark.parametrize("call", [
    lambda n, g: n(), lambda n, g: n(g, g), lambda n, g: n(1), lambda n, g: n("g"),
    lambda n, g: n([g]), lambda n, g: n((g,)), lambda n, g: n(g, retain=True),
    lambda n, g: n(grad=g),
])
@pytest.mark.parametrize("make", [
    lambda x: x * 2, lambda x: x.sum(), lambda x: x.max(0)[0], lambda x: (x * 2)[:1].tanh_(),
], ids=["mul", "sum", "max", "written view"])
def test_a_node_is_called_with_one_gradient_per_output(make, call):
    y = make(ones())
    with pytest.raises(TypeError, match=rf"^{y.grad_fn.name()}|keyword arguments"):
        call(y.grad_fn, fg.ones_like(y))
    y.grad_fn(fg.ones_like(y))
    y.grad_fn(None)


def test_an_accumulator_is_called_with_gradients_that_fit():
    x = ones()
    node = fg.autograd.graph.get_gradient_edge(x).node
    assert node(fg.ones(1)) == () and x.grad.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="expand"):
        node(fg.ones(2))
    assert x.grad.tolist() == [1, 1, 1]


def test_calls_of_nodes_name_what_they_got():
    with pytest.raises(TypeError, match="UnbindBackward0 takes 2 gradients, one per forward "
                                        "output, but got 1"):
        ones(2).unbind(0)[0].grad_fn(fg.ones(()))
    with pytest.raises(TypeError, match="'DoubleBackward' object is not callable"):
        Double.apply(ones()).grad_fn(fg.ones(3))
    assert Double.apply(ones()).grad_fn.apply(fg.ones(3)) is not None


def test_a_saved_tensor_shows_its_data_and_its_hook():
    x = ones()
    y = x.exp()
    saved = y.grad_fn._raw_saved_result
    assert isinstance(saved, fg.autograd.SavedTensor)
    assert saved.data.equal(y) and not saved.data.requires_grad
    assert saved.data.data_ptr() == y.data_ptr() and saved.unpack_hook is None
    assert (x * x).grad_fn._raw_saved_self.data is x

    def unpack(packed):
        return fg.tensor(packed[1])

    saved.register_hooks(lambda t: ("packed", t.tolist()), unpack)
    assert saved.data == ("packed", y.tolist()) and saved.unpack_hook is unpack
    y.sum().backward()
    assert saved.data is None and saved.unpack_hook is None
    with pytest.raises(RuntimeError, match="freed"):
        saved.register_hooks(lambda t: t, unpack)
    with pytest.raises(RuntimeError, match="a second time"):
        y.grad_fn._saved_result
    assert y.grad_fn._raw_saved_result.data is None


@pytest.mark.parametrize("name", ["_saved_self", "_raw_saved_self", "next_functions", "metadata"])
def test_what_a_node_knows_is_not_set_from_outside(name):
    node = (ones() * ones()).grad_fn
    with pytest.raises(AttributeError):
        setattr(node, name, 1)
    with pytest.raises(AttributeError):
        delattr(node, name)


def test_saved_tensors_with_hooks_of_a_context_show_them():
    def unpack(packed):
        return packed[1]

    with fg.autograd.graph.saved_tensors_hooks(lambda t: ("packed", t), unpack):
        y = ones().exp()
    saved = y.grad_fn._raw_saved_result
    assert saved.data[0] == "packed" and saved.unpack_hook is unpack
    with pytest.raises(RuntimeError, match="hooks already"):
        saved.register_hooks(lambda t: t, unpack)


def test_a_saved_tensor_that_was_written_shows_what_it_is_now():
    v = ones() * 1
    y = v * v
    v.add_(1)
    assert y.grad_fn._raw_saved_self.data.tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.grad_fn._saved_self


@pytest.mark.parametrize("change, named", [
    (lambda x: (v := x.exp(), v.sin(), v.add_(1))[1], "output 0 of Add, is at version 1; expected "
                                                      "version 0 instead. The gradient of Sin"),
    (lambda x: x.exp().add_(1), "output 0 of Exp, is at version 1"),
    (lambda x: Double.apply(x).mul_(Double.apply(x)), None),
    (lambda x: (v := x.sigmoid(), v.view(-1).mul_(2))[0], "output 0 of Sigmoid, is at version 1"),
    (lambda x: (v := x * 1, v.view(-1) * v.view(-1), v.mul_(2), v.tanh_())[1],
     "output 0 of AsStrided, is at version 2"),
])
def test_the_version_error_names_forward_functions(change, named):
    y = change(ones())
    if named is None:
        y.sum().backward()
        return
    with pytest.raises(RuntimeError, match="modified by an inplace operation.*which is " + named):
        y.sum().backward()

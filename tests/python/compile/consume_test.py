"""A backward that frees the graph uses the memory of saved values; no program sees a change."""

import weakref

import foregrad as fg
import numpy
import pytest
from foregrad.autograd.graph import saved_tensors_hooks


def loss(x, *weights):
    for w in weights:
        x = (x @ w).tanh() * x.sigmoid()
    return (x * x).sum()


def inputs():
    generator = numpy.random.default_rng(3)
    shapes = [(40, 20)] + 6 * [(20, 20)]
    return [fg.tensor(generator.standard_normal(s).astype("float32")).requires_grad_()
            for s in shapes]


def gradients(result, given, **options):
    for tensor in given:
        tensor.grad = None
    result.backward(**options)
    return [tensor.grad.tolist() for tensor in given]


@pytest.mark.parametrize("backend", ["native", "interpreter"])
def test_backward_that_keeps_the_graph_and_one_that_frees_it_give_the_gradients_of_eager_code(
        backend):
    compiled = fg.compile(loss, fullgraph=True, backend=backend)
    given = inputs()
    expected = gradients(loss(*given), given)
    for _ in range(2):
        result = compiled(*given)
        assert gradients(result, given, retain_graph=True) == expected
        assert gradients(result, given, retain_graph=True) == expected
        assert gradients(result, given) == expected
        with pytest.raises(RuntimeError, match="second time"):
            result.backward()


def test_arrays_that_hooks_show_as_tensors_are_not_written():
    compiled = fg.compile(loss, fullgraph=True)
    given = inputs()
    expected = gradients(loss(*given), given)
    arrays, copies = [], []

    def pack(tensor):
        arrays.append(numpy.array(tensor.detach()))
        copies.append(arrays[-1].copy())
        return len(arrays) - 1

    with saved_tensors_hooks(pack, lambda place: fg.from_numpy(arrays[place])):
        result = compiled(*given)
    assert len(arrays) > len(given)
    assert gradients(result, given) == expected
    for array, copy in zip(arrays, copies):
        assert (array == copy).all()


def test_tensors_that_only_a_weak_reference_finds_are_not_written():
    """The C++ tensor owns its Python wrapper then, and gives it back to the next caller."""
    compiled = fg.compile(loss, fullgraph=True)
    given = inputs()
    expected = gradients(loss(*given), given)
    found, copies = [], []

    def unpack(packed):
        tensor = packed.clone()
        tensor.note = "here"
        found.append(weakref.ref(tensor))
        copies.append(packed)
        return tensor

    with saved_tensors_hooks(lambda tensor: tensor.clone(), unpack):
        result = compiled(*given)
    seen = []

    def look(_):
        seen.extend(ref() for ref in found)

    given[0].register_hook(look)
    assert gradients(result, given) == expected
    for tensor, copy in zip(seen, copies):
        assert tensor is None or tensor.tolist() == copy.tolist()

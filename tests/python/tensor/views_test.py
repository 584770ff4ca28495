"""Views and in-place changes: what is recorded and what is refused."""

import foregrad as fg
import pytest


def ones(*sizes):
    return fg.ones(*(sizes or (3,)), requires_grad=True)


def test_a_view_shares_memory_and_knows_its_base():
    base = fg.zeros(2, 3)
    view = base[0]
    view.fill_(5)
    assert base.tolist() == [[5, 5, 5], [0, 0, 0]]
    assert view._base is base and view._is_view() and base._base is None
    assert view.view(3)._base is base


def test_an_in_place_change_of_a_view_changes_the_history_of_its_base():
    x = ones()
    base = x * 1
    base[1:].mul_(10)
    assert base.grad_fn.name().endswith("CopySlices")
    base.sum().backward()
    assert x.grad.tolist() == [1, 10, 10]


def test_an_in_place_change_of_the_base_changes_the_history_of_its_views():
    x = ones()
    base = x * 1
    view = base[1:]
    before = view.grad_fn
    base.mul_(10)
    assert view.grad_fn is not before
    view.sum().backward()
    assert x.grad.tolist() == [0, 10, 10]


def test_a_leaf_that_requires_grad_cannot_be_changed_in_place():
    x = ones()
    with pytest.raises(RuntimeError, match="leaf"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="(?s)view.*leaf"):
        x[0].add_(1)
    with pytest.raises(RuntimeError, match="leaf"):
        x[0] = 5
    with fg.no_grad():
        x.add_(1)
        x[0] = 7
    assert x.tolist() == [7, 2, 2] and x.is_leaf


def test_a_view_made_without_grad_mode_cannot_be_changed_with_it():
    base = ones() * 1
    with fg.no_grad():
        view = base[:2]
    with pytest.raises(RuntimeError, match="no_grad"):
        view.add_(1)
    with fg.no_grad():
        view.add_(1)


def test_an_output_of_split_or_unbind_cannot_be_changed_in_place():
    base = ones(4) * 1
    for view in (base.split(2)[0], base.unbind()[0], base.chunk(2)[1]):
        with pytest.raises(RuntimeError, match="multiple views|several views"):
            view.add_(1)


def test_an_inference_tensor_cannot_be_changed_outside():
    with fg.inference_mode():
        a = fg.ones(3)
        a.add_(1)
    with pytest.raises(RuntimeError, match="(?i)inference"):
        a.add_(1)
    with fg.inference_mode():
        view = fg.ones(3)[:1]
    with pytest.raises(RuntimeError, match="(?i)inference"):
        view.add_(1)


def test_a_view_made_in_inference_mode_of_a_normal_tensor():
    base = ones() * 1
    with fg.inference_mode():
        view = base[:2]
    with pytest.raises(RuntimeError, match="(?i)inference"):
        view.add_(1)


def test_a_changed_saved_value_is_found_at_backward():
    x = ones()
    y = x.exp()
    z = y * 2
    y.add_(1)
    with pytest.raises(RuntimeError, match="inplace operation"):
        z.sum().backward()


def test_detached_tensors_share_memory_and_versions():
    x = ones()
    y = x.exp()
    d = y.detach()
    assert d.data_ptr() == y.data_ptr() and not d.requires_grad and d.grad_fn is None
    d.zero_()
    assert y._version == d._version == 1
    with pytest.raises(RuntimeError, match="inplace operation"):
        y.sum().backward()


def test_data_has_a_version_of_its_own():
    x = ones()
    y = x.exp()
    y.data.zero_()
    assert y._version == 0
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_setting_data_changes_the_values_and_not_the_identity():
    x = ones()
    same = x
    x.data = fg.full((2, 2), 7.0)
    assert same is x and x.tolist() == [[7, 7], [7, 7]] and x.requires_grad


def test_detach_in_place_cuts_the_history():
    y = ones() * 2
    y.detach_()
    assert y.grad_fn is None and not y.requires_grad and y.is_leaf
    with pytest.raises(RuntimeError, match="view"):
        (ones() * 2)[:1].detach_()


def test_requires_grad_of_a_non_leaf_cannot_be_changed():
    y = ones() * 2
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad_(False)
    y.requires_grad_(True)


def test_only_floats_require_grad():
    with pytest.raises(RuntimeError, match="(?i)float"):
        fg.arange(3).requires_grad_()
    with pytest.raises(RuntimeError, match="(?i)float"):
        fg.tensor([1, 2], requires_grad=True)


def test_in_place_operators_give_the_same_object():
    x = fg.ones(3)
    same = x
    x += 1
    x *= 2
    x -= 1
    x /= 3
    assert x is same and x.tolist() == [1, 1, 1]


@pytest.mark.parametrize("name, arguments", [
    ("t", ()), ("transpose", (0, 1)), ("swapaxes", (0, 1)), ("squeeze", ()), ("unsqueeze", (0,)),
    ("as_strided", ((2,), (1,))),
])
def test_shapes_change_in_place_with_their_history_but_not_those_of_leaves(name, arguments):
    x = fg.rand(2, 3, requires_grad=True)
    y = x * 2
    before = y._version
    assert getattr(y, name + "_")(*arguments) is y
    expected = getattr(x * 2, name)(*arguments)
    assert y.equal(expected) and y.stride() == expected.stride() and y._version == before + 1
    (y * y).sum().backward()
    (grad,) = fg.autograd.grad((expected * expected).sum(), x)
    assert x.grad.equal(grad)
    with pytest.raises(RuntimeError, match=f"^{name}_: a leaf variable that requires grad"):
        getattr(x, name + "_")(*arguments)


@pytest.mark.parametrize("part", [lambda x: x[:, ::2], lambda x: x[:1].expand(3, 6)])
def test_second_derivatives_of_as_strided_over_holes_and_repeated_elements(part):
    x = part(fg.arange(12, dtype=fg.float64).reshape(2, 6)).detach().requires_grad_()
    tangent = fg.tensor(1.0, dtype=fg.float64, requires_grad=True)
    weights = fg.arange(x.numel(), dtype=fg.float64).reshape(x.shape)
    (grad,) = fg.autograd.grad((x.as_strided((3,), (1,)) ** 2).sum(), x, tangent, create_graph=True)
    (again,) = fg.autograd.grad((grad * weights).sum(), tangent)  # what it is linear in
    assert again.item() == pytest.approx((grad * weights).sum().item())


VIEWS = {
    "view": lambda v: v.view(-1), "slice": lambda v: v[:, 1:], "transposed": lambda v: v.t(),
    "row": lambda v: v[1], "diagonal": lambda v: v.diagonal(),
    "of a view": lambda v: v.t()[1:].t()[0], "strided": lambda v: v.as_strided((2, 2), (3, 1), 1),
}
WRITES = ["tanh_", "sigmoid_", "exp_", "sqrt_", "reciprocal_", "rsqrt_", "relu_"]


def _second_derivative(write, view, keep):
    """d/dx of v.sum() + dv/dx.sum(), with the write in place or out of place."""
    x = (fg.arange(9, dtype=fg.float64).reshape(3, 3) / 7 + 0.2).requires_grad_()
    v = x * 2
    part = view(v)
    if write.endswith("_"):
        getattr(part, write)()
    else:
        flat = v.reshape(-1)
        places = view(fg.arange(9).reshape(3, 3)).reshape(-1)
        v = flat.index_copy(0, places, getattr(part, write)().reshape(-1)).reshape(3, 3)
    if not keep:
        del part
    (g,) = fg.autograd.grad(v.sum(), x, create_graph=True)
    (v.sum() + g.sum()).backward()
    return g.detach(), x.grad


@pytest.mark.parametrize("keep", [False, True], ids=["view gone", "view kept"])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("write", WRITES)
def test_what_wrote_a_view_is_differentiated_twice_in_one_graph(write, view, keep):
    for one, expected in zip(_second_derivative(write, view, keep),
                             _second_derivative(write[:-1], view, keep)):
        assert fg.allclose(one, expected)


def test_nested_writes_through_views_are_differentiated_again_and_again():
    def power(x, inplace):
        v = x * 2
        if inplace:
            v[:2].sin_()
            v.view(-1)[1:].cos_()
            v[:1].mul_(x[1:2]).tanh_()
            return v
        v = fg.cat([v[:2].sin(), v[2:]])
        v = fg.cat([v[:1], v[1:].cos()])
        return fg.cat([(v[:1] * x[1:2]).tanh(), v[1:]])

    results = []
    for inplace in (False, True):
        x = fg.tensor([0.3, -0.2, 0.7], dtype=fg.float64, requires_grad=True)
        y = power(x, inplace)
        (g,) = fg.autograd.grad(y.sum(), x, create_graph=True)
        (h,) = fg.autograd.grad((g * g).sum() + y.sum(), x, create_graph=True)
        h.sum().backward(retain_graph=True)
        (g.sum() + y.sum()).backward()
        results.append((g.detach(), h.detach(), x.grad))
    for one, expected in zip(results[1], results[0]):
        assert fg.allclose(one, expected)


def test_a_graph_with_a_written_view_is_freed_like_others():
    x = fg.ones(3, requires_grad=True)
    v = x * 2
    v[:2].tanh_()
    v.sum().backward(retain_graph=True)
    v.sum().backward()
    with pytest.raises(RuntimeError, match="CopySlices: trying to backward .* a second time"):
        v.sum().backward()


def test_a_custom_function_that_writes_a_view_is_differentiated_twice():
    class Exp(fg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.exp_()
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = fg.tensor([0.5, 1.0], dtype=fg.float64, requires_grad=True)
    v = x * 2
    Exp.apply(v[:1])
    (g,) = fg.autograd.grad((v * v).sum(), x, create_graph=True)
    (g.sum() + v.sum()).backward()
    e = (x[0].detach() * 4).exp()
    assert fg.allclose(g[0], 4 * e)
    assert fg.allclose(x.grad[0], 16 * e + 2 * (x[0].detach() * 2).exp())


def test_a_tensor_with_new_data_keeps_the_version_that_it_shares_with_its_views():
    x = fg.ones(4)
    view, alias = x[:2], x.detach()
    x.add_(1)
    data = fg.zeros(4)
    data.add_(1).add_(1)
    x.data = data
    assert (x._version, view._version, alias._version, data._version) == (1, 1, 1, 2)
    x.add_(1)
    assert (x._version, view._version, alias._version, data._version) == (2, 2, 2, 2)
    view.add_(1)
    later = x[1:]
    later.add_(1)
    assert {t._version for t in (x, view, alias, later)} == {4} and data._version == 2
    assert x.tolist() == data.tolist() == [3, 4, 4, 4] and view.tolist() == [3, 3]
    x.data = fg.ones(2)
    alias.add_(1)
    assert {t._version for t in (x, view, alias, later)} == {5}
    del x, later
    view.add_(1)
    assert view._version == alias._version == 6


@pytest.mark.parametrize("write", [lambda w, view: w.add_(1), lambda w, view: view.add_(1)])
@pytest.mark.parametrize("saved", [0, 1])
def test_a_write_after_new_data_is_noticed_by_what_was_saved(saved, write):
    x = fg.ones(3, requires_grad=True)
    w = fg.ones(3)
    view = w[:]
    y = x * (w, view)[saved]
    w.data = fg.zeros(3)
    assert fg.autograd.grad(y.sum(), x, retain_graph=True)[0].tolist() == [saved] * 3
    write(w, view)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_new_data_may_have_another_floating_type():
    x = fg.ones(3, dtype=fg.float64, requires_grad=True)
    y = (x * 2).sum()
    x.data = fg.ones(3)
    assert x.dtype is fg.float32 and x.requires_grad and x.is_leaf
    y.backward()
    (x * 3).sum().backward()
    assert x.grad.dtype is fg.float32 and x.grad.tolist() == [5, 5, 5]
    with pytest.raises(RuntimeError, match="^set_data: the new data is int64"):
        x.data = fg.ones(3, dtype=fg.int64)


def test_a_result_that_grows_its_out_goes_on_with_its_version():
    x = fg.ones(2, requires_grad=True)
    out = fg.ones(2)
    out.add_(1)
    y = x * out
    with pytest.warns(UserWarning, match="resized"):
        fg.add(fg.ones(4), 1, out=out)
    assert out._version == 2 and out.tolist() == [2, 2, 2, 2]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()

"""Views and in-place changes: what is recorded and what is refused."""

import foregrad as fg
import pytest


def ones(*sizes):
    return fg.ones(*(sizes or (3,)), requires_grad=True)


def test_a_view_shares_memory_and_knows_its_base_E14():
    base = fg.zeros(2, 3)
    view = base[0]
    view.fill_(5)
    assert base.tolist() == [[5, 5, 5], [0, 0, 0]]
    assert view._base is base and view._is_view() and base._base is None
    assert view.view(3)._base is base


def test_an_in_place_change_of_a_view_changes_the_history_of_its_base_E14():
    x = ones()
    base = x * 1
    base[1:].mul_(10)
    assert base.grad_fn.name().endswith("CopySlices")
    base.sum().backward()
    assert x.grad.tolist() == [1, 10, 10]


def test_an_in_place_change_of_the_base_changes_the_history_of_its_views_E14():
    x = ones()
    base = x * 1
    view = base[1:]
    before = view.grad_fn
    base.mul_(10)
    assert view.grad_fn is not before
    view.sum().backward()
    assert x.grad.tolist() == [0, 10, 10]


def test_a_leaf_that_requires_grad_cannot_be_changed_in_place_E14():
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


def test_a_view_made_without_grad_mode_cannot_be_changed_with_it_E14():
    base = ones() * 1
    with fg.no_grad():
        view = base[:2]
    with pytest.raises(RuntimeError, match="no_grad"):
        view.add_(1)
    with fg.no_grad():
        view.add_(1)


def test_an_output_of_split_or_unbind_cannot_be_changed_in_place_E14():
    base = ones(4) * 1
    for view in (base.split(2)[0], base.unbind()[0], base.chunk(2)[1]):
        with pytest.raises(RuntimeError, match="multiple views|several views"):
            view.add_(1)


def test_an_inference_tensor_cannot_be_changed_outside_E14():
    with fg.inference_mode():
        a = fg.ones(3)
        a.add_(1)
    with pytest.raises(RuntimeError, match="(?i)inference"):
        a.add_(1)
    with fg.inference_mode():
        view = fg.ones(3)[:1]
    with pytest.raises(RuntimeError, match="(?i)inference"):
        view.add_(1)


def test_a_view_made_in_inference_mode_of_a_normal_tensor_E14():
    base = ones() * 1
    with fg.inference_mode():
        view = base[:2]
    with pytest.raises(RuntimeError, match="(?i)inference"):
        view.add_(1)


def test_a_changed_saved_value_is_found_at_backward_E14():
    x = ones()
    y = x.exp()
    z = y * 2
    y.add_(1)
    with pytest.raises(RuntimeError, match="inplace operation"):
        z.sum().backward()


def test_detached_tensors_share_memory_and_versions_E14():
    x = ones()
    y = x.exp()
    d = y.detach()
    assert d.data_ptr() == y.data_ptr() and not d.requires_grad and d.grad_fn is None
    d.zero_()
    assert y._version == d._version == 1
    with pytest.raises(RuntimeError, match="inplace operation"):
        y.sum().backward()


def test_data_has_a_version_of_its_own_E14():
    x = ones()
    y = x.exp()
    y.data.zero_()
    assert y._version == 0
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_setting_data_changes_the_values_and_not_the_identity_E14():
    x = ones()
    same = x
    x.data = fg.full((2, 2), 7.0)
    assert same is x and x.tolist() == [[7, 7], [7, 7]] and x.requires_grad


def test_detach_in_place_cuts_the_history_E14():
    y = ones() * 2
    y.detach_()
    assert y.grad_fn is None and not y.requires_grad and y.is_leaf
    with pytest.raises(RuntimeError, match="view"):
        (ones() * 2)[:1].detach_()


def test_requires_grad_of_a_non_leaf_cannot_be_changed_E14():
    y = ones() * 2
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad_(False)
    y.requires_grad_(True)


def test_only_floats_require_grad_E14():
    with pytest.raises(RuntimeError, match="(?i)float"):
        fg.arange(3).requires_grad_()
    with pytest.raises(RuntimeError, match="(?i)float"):
        fg.tensor([1, 2], requires_grad=True)


def test_in_place_operators_give_the_same_object_E14():
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
def test_shapes_change_in_place_with_their_history_but_not_those_of_leaves_E14(name, arguments):
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

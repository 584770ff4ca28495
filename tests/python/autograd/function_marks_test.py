"""Custom functions that change inputs in place, or have outputs without a gradient."""

import foregrad as fg
import pytest
from foregrad.autograd import Function


def ones():
    return fg.ones(3, requires_grad=True)


def function(forward, backward=lambda ctx, *grads: grads[0], **attributes):
    """A Function class from two functions."""
    attributes |= {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (Function,), attributes)


def in_place(change=lambda x: x.add_(1), mark=lambda ctx, x: ctx.mark_dirty(x),
             give=lambda x: x):
    def forward(ctx, x):
        mark(ctx, x)
        change(x)
        return give(x)

    return function(forward, lambda ctx, *grads: grads[0] * 5)


def test_mark_dirty_bumps_the_version_and_returns_the_same_object():
    x = ones().clone()
    version = x._version
    y = in_place().apply(x)
    assert y is x and x._version > version


def test_marking_what_is_no_tensor_dirty_is_an_error():
    with pytest.raises(RuntimeError, match="mark_dirty: argument 0 must be a Tensor, not int"):
        in_place(mark=lambda ctx, x: ctx.mark_dirty(3)).apply(ones().clone())


def test_a_dirty_tensor_must_be_returned():
    with pytest.raises(RuntimeError, match="output"):
        in_place(give=lambda x: x.clone()).apply(ones().clone())


def test_a_dirty_tensor_that_is_no_input_warns():
    def forward(ctx, x):
        y = x.clone()
        ctx.mark_dirty(y)
        return y

    with pytest.warns(UserWarning, match="input"):
        function(forward).apply(ones().clone())


def test_a_leaf_that_requires_grad_cannot_be_dirty():
    with pytest.raises(RuntimeError, match="leaf"):
        in_place(change=lambda x: None).apply(ones())


def test_a_dirty_view_with_several_outputs_is_refused():
    base = ones().clone()
    with pytest.raises(RuntimeError, match="view"):
        in_place(give=lambda x: (x, x.clone())).apply(base[:2])


def test_history_of_a_dirty_input_moves_onto_the_node():
    x = ones()
    y = x * 3
    z = in_place().apply(y)
    assert z is y and y.grad_fn.name() == "MadeBackward"
    y.sum().backward()
    assert x.grad.tolist() == [15, 15, 15]


def test_a_dirty_view_rebases_through_its_base():
    x = ones()
    base = x * 2
    in_place().apply(base[:1])
    assert base.grad_fn.name().endswith("CopySlices")
    base.sum().backward()
    assert x.grad.tolist() == [10, 2, 2]


def test_non_differentiable_outputs_do_not_require_grad_but_get_zeros():
    seen = []

    def forward(ctx, x):
        y, z = x * 2, x > 0
        w = x * 4
        ctx.mark_non_differentiable(w)
        return y, z, w

    def backward(ctx, *grads):
        seen.extend(None if g is None else g.tolist() for g in grads)
        return grads[0]

    y, z, w = function(forward, backward).apply(ones())
    assert (y.requires_grad, z.requires_grad, w.requires_grad) == (True, False, False)
    assert w.grad_fn is None
    y.sum().backward()
    assert seen[0] == [1, 1, 1] and seen[2] == [0, 0, 0] and not any(seen[1])


def test_marking_what_is_no_tensor_non_differentiable_is_an_error():
    def forward(ctx, x):
        ctx.mark_non_differentiable("text")
        return x * 2

    with pytest.raises(RuntimeError, match="argument 0 must be a Tensor, not str"):
        function(forward).apply(ones())


def test_an_input_marked_non_differentiable_is_returned_without_grad():
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x, x * 2

    x = ones()
    same, _ = function(forward).apply(x)
    assert not same.requires_grad and x.requires_grad


def test_missing_gradients_are_zeros_or_none():
    for materialize, expected in ((True, [0, 0, 0]), (False, None)):
        seen = []

        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        def backward(ctx, first, second):
            seen.append(second if second is None else second.tolist())
            return first

        function(forward, backward).apply(ones())[0].sum().backward()
        assert seen == [expected]


def test_materialised_zeros_have_the_recorded_size_and_dtype():
    seen = []

    def backward(ctx, first, second):
        seen.append((tuple(second.shape), second.dtype))
        return first

    made = function(lambda ctx, x: (x * 2, fg.zeros(2, 5, dtype=fg.float64)), backward)
    made.apply(ones())[0].sum().backward()
    assert seen == [((2, 5), fg.float64)]


def test_set_materialize_grads_wants_a_bool():
    def forward(ctx, x):
        ctx.set_materialize_grads(1)
        return x * 2

    with pytest.raises(TypeError, match="must be a bool, not int"):
        function(forward).apply(ones())


def test_gradients_of_non_differentiable_outputs_need_not_be_materialised():
    seen = []

    def forward(ctx, x):
        y = x * 3
        ctx.mark_non_differentiable(y)
        assert ctx._materialize_non_diff_grads is True
        ctx._materialize_non_diff_grads = False
        assert ctx._materialize_non_diff_grads is False
        return x * 2, y

    def backward(ctx, first, second):
        seen.append(second)
        return first

    function(forward, backward).apply(ones())[0].sum().backward()
    assert seen == [None]

"""Captured functions that write to their inputs: what the caller's tensors are afterwards."""

import foregrad as fg
import pytest
from capture_compare import alike, elements, leaf, nonleaf, plain
from foregrad.compiler import counters


def with_source(*shape):
    """Arguments of one tensor with a history, and its leaf."""
    tensor, source = nonleaf(*shape)
    return [tensor], [source]


def test_an_input_that_is_not_written_keeps_its_version():
    alike(lambda x: x * 2, lambda: [plain(3)])


def test_an_input_that_is_written_counts_its_writes():
    def f(x):
        x.add_(1)
        x.mul_(2)
        x[0] = 5.0

    alike(f, lambda: [plain(2, 3)])


def test_a_write_hidden_from_autograd_counts_but_has_no_history():
    def f(x):
        x.detach().mul_(2)
        with fg.no_grad():
            x.add_(1)

    alike(f, lambda: [leaf(3)])
    alike(f, lambda: with_source(3))


def test_a_write_to_data_is_not_counted():
    def f(x):
        x.data.add_(1)
        return x * 2

    alike(f, lambda: [plain(3)])


def test_gradients_flow_through_the_new_elements():
    def f(x, w):
        x.mul_(w)
        return x.sin()

    def arguments():
        (x,), (source,) = with_source(3)
        w = leaf(3, start=2.0)
        return [x, w], [source, w]

    alike(f, arguments)
    alike(f, lambda: [plain(3), leaf(3)])


def test_the_gradient_is_taken_at_the_elements_before_the_write():
    def f(x):
        y = x * x.detach().clone()
        x.mul_(3)
        return y * x

    alike(f, lambda: with_source(4))


def test_a_written_input_without_results():
    def f(x, w):
        x.copy_(w * w)

    alike(f, lambda: [plain(3), leaf(3)])


def test_a_shape_is_changed_in_place_and_refused_where_there_is_a_history():
    def f(x):
        x.t_()
        return x * 2

    alike(f, lambda: [plain(2, 3)])
    with pytest.raises(RuntimeError, match="in place"):
        fg.compile(f, fullgraph=True)(nonleaf(2, 3)[0])


def test_changes_of_shape_that_cancel_count_as_none():
    def f(x):
        x.t_()
        x.t_()
        x.unsqueeze_(0)
        x.squeeze_(0)
        return x + 1

    alike(f, lambda: [plain(2, 3)])


def test_shape_and_elements_changed_together():
    def f(x):
        x.t_()
        x[0].mul_(3)
        x.unsqueeze_(0)

    alike(f, lambda: [plain(2, 3)])


def test_a_leaf_that_requires_grad_written_under_no_grad():
    def f(w, grad, rate):
        with fg.no_grad():
            w.sub_(grad * rate)

    alike(f, lambda: [leaf(3), plain(3), 0.1])

    def g(w):
        w.detach().add_(1)
        return w * w

    alike(g, lambda: [leaf(3)])


def test_a_leaf_that_requires_grad_written_in_the_open_is_an_error():
    def f(w):
        w.add_(1)

    for function in (f, fg.compile(f), fg.compile(f, fullgraph=True)):
        w = leaf(3)
        with pytest.raises(RuntimeError, match="leaf"):
            function(w)
        assert elements(w).tolist() == elements(leaf(3)).tolist() and w._version == 0


def test_a_version_counts_whether_autograd_sees_the_write_or_not():
    def f(x):
        y = x.exp()
        with fg.no_grad():
            x.zero_()
        return y

    alike(f, lambda: [leaf(3)])


def test_a_tensor_saved_before_the_call_and_written_by_it_is_an_error_in_backward():
    def f(x):
        x.add_(1)

    def outcome(function):
        source = leaf(3)
        x = source * 2
        y = x.sin()
        function(x)
        with pytest.raises(RuntimeError, match="modified by an inplace"):
            y.sum().backward()

    outcome(f)
    outcome(fg.compile(f, fullgraph=True))


def test_an_input_that_is_written_and_returned_is_itself():
    def f(x):
        x.add_(1)
        return x

    alike(f, lambda: [plain(3)])
    alike(f, lambda: with_source(3))


def test_a_write_that_is_undone_still_counts():
    def f(x):
        x.add_(0)
        return x * 2

    alike(f, lambda: [plain(3)])


def laid_out(name, make):
    base = make(4, 6)
    return {"transposed": lambda: base.t(), "sliced": lambda: base[1:3, ::2],
            "row": lambda: base[1], "column": lambda: base[:, 2]}[name]()


@pytest.mark.parametrize("layout", ["transposed", "sliced", "row", "column"])
def test_inputs_that_are_not_contiguous_are_written(layout):
    def f(x):
        x.mul_(2)
        x[0] = 3.0
        return x.sum()

    alike(f, lambda: [laid_out(layout, plain)])

    def arguments():
        source = leaf(4, 6)
        return [laid_out(layout, lambda *_: source * 1.0)], [source]

    alike(f, arguments)


def test_elements_around_a_written_part_stay():
    compiled = fg.compile(lambda x: x.zero_(), fullgraph=True)
    base = plain(4, 6)
    before = elements(base)
    compiled(base[1:3, ::2])
    before[1:3, ::2] = 0
    assert (elements(base) == before).all()


def test_an_expanded_input_is_written_as_in_eager():
    def f(x):
        x.detach().diagonal().fill_(3.0)

    def outcome(function):
        base = plain(1, 2)
        function(base.expand(3, 2))
        return base.tolist()

    with pytest.raises(RuntimeError, match=r"elements share memory \(expand\)"):
        outcome(fg.compile(f, fullgraph=True))
    with pytest.warns(UserWarning, match=r"runs eagerly: .*elements share memory \(expand\)"):
        assert outcome(fg.compile(f)) == outcome(f) == [[3.0, 3.0]]


class Normalise:
    """Running statistics, as batch norm keeps them."""

    def __init__(self):
        self.mean, self.training = fg.zeros(3, dtype=fg.float64), True

    def forward(self, x):
        if self.training:
            mean = x.mean(0)
            with fg.no_grad():
                self.mean.mul_(0.9).add_(mean * 0.1)
            return x - mean
        return x - self.mean

    __call__ = forward


def test_running_statistics_of_an_object():
    eager, other = Normalise(), Normalise()
    compiled, before = fg.compile(other, fullgraph=True), counters.captured
    for training in (True, True, False, True):
        eager.training = other.training = training
        x, y = leaf(4, 3), leaf(4, 3)
        one, two = eager(x), compiled(y)
        one.sum().backward()
        two.sum().backward()
        assert two.tolist() == one.tolist() and y.grad.tolist() == x.grad.tolist()
        assert other.mean.tolist() == eager.mean.tolist()
        assert other.mean._version == eager.mean._version
    assert counters.captured == before + 2  # training and not


def test_batch_norm_with_buffers_as_arguments():
    def f(x, mean, var, training):
        return fg.nn.functional.batch_norm(x, mean, var, training=training)

    for training in (True, False):
        alike(f, lambda: [leaf(4, 3), plain(3), plain(3, start=1.0), training])


def test_writes_through_several_views_of_an_input():
    def f(x):
        x[0].add_(1)
        y = x.view(-1)
        y[2:4] = 7.0
        x.t()[1].mul_(2)
        return y, x.t()

    alike(f, lambda: [plain(2, 3)])
    alike(f, lambda: with_source(2, 3))


def test_a_mask_writes():
    def f(x, v):
        x[x > 0.7] = v
        return x * 2

    alike(f, lambda: [plain(2, 3), plain()])
    alike(f, lambda: with_source(2, 3)[0] + [plain()], calls=1)


def test_a_write_to_memory_that_two_inputs_share_is_refused_and_runs_eagerly():
    def f(x, y):
        x.add_(1)
        return y * 2

    def shared():
        x = plain(4)
        return [x, x[1:3]]

    with pytest.raises(RuntimeError, match="shares memory"):
        fg.compile(f, fullgraph=True)(*shared())
    with pytest.warns(UserWarning, match="shares memory"):
        alike(f, shared, fullgraph=False)


def test_a_version_captured_for_separate_inputs_is_not_used_for_shared_ones():
    def f(x, y):
        x.add_(1)
        return y * 2

    compiled = fg.compile(f)
    compiled(plain(4), plain(4))
    x, other = plain(4), plain(4)
    with pytest.warns(UserWarning, match="shares memory"):
        found = compiled(x, x.detach())
    assert found.tolist() == f(other, other.detach()).tolist()


def test_a_history_for_what_a_function_reached_goes_to_its_stand_in():
    """Its own tensor, which the function holds, does not have it: it must not be asked."""
    reached = plain(2, 3)

    def gradient(t):
        whole = reached.detach()
        whole[0] = t
        return fg.autograd.grad((whole ** 3).sum(), whole)[0]

    alike(gradient, lambda: [leaf(3)])
    for name in ("requires_grad", "is_leaf", "grad_fn", "_version"):
        def asks(t):
            whole = reached.detach()
            whole[0] = t
            return getattr(whole, name), whole * 2

        match = f"reads {name} of a tensor (that it reached|from outside)"
        with pytest.raises(RuntimeError, match=match):
            fg.compile(asks, fullgraph=True)(leaf(3))


def test_a_new_layout_for_what_shares_memory_with_a_view_is_refused():
    """A new version gives the view a new node; whether before or after its use decides."""
    def f(x):
        y = x.abs()
        x.detach().t_()
        return y

    base, _ = nonleaf(1, 3)
    with pytest.raises(RuntimeError, match="shares memory with a view"):
        fg.compile(f, fullgraph=True)(base.expand(3, 3))

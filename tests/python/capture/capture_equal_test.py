"""Captured code does what eager code does where random programs once found that it did not."""

import foregrad as fg
import pytest
from capture_compare import alike, leaf, nonleaf, plain
from foregrad.autograd.graph import saved_tensors_hooks
from foregrad.compiler import aot_function, min_cut_rematerialization_partition, nop


def same_outcome(function, outcome):
    """What `outcome` says of the function is the same for its captured form."""
    assert outcome(fg.compile(function, fullgraph=True)) == outcome(function)


def error_of(action):
    try:
        action()
    except Exception as error:
        return type(error)
    return None


def refused(function, *arguments, match):
    with pytest.raises(RuntimeError, match=match):
        fg.compile(function, fullgraph=True)(*arguments)


# ---- errors


@pytest.mark.parametrize("wrong", [
    lambda x: x[fg.tensor([1, 9])], lambda x: x.index_select(0, fg.tensor([9])),
    lambda x: x.gather(0, fg.tensor([9])), lambda x: fg.take(x, fg.tensor([9])),
    lambda x: x.scatter(0, fg.tensor([9]), 1.0), lambda x: fg.bernoulli(x * 9),
    lambda x: x.long() // (x.long() * 0), lambda x: fg.multinomial(x * 0, 1),
    lambda x: x.index_add(0, fg.tensor([9]), x[:1])])
def test_values_are_refused_where_nobody_uses_the_result(wrong):
    def f(x):
        wrong(x)
        return x * 2

    x = plain(3)
    assert error_of(lambda: f(x)) is not None
    compiled = fg.compile(f, fullgraph=True)
    for _ in range(2):
        assert error_of(lambda: compiled(x)) is error_of(lambda: f(x))


def test_a_write_of_elements_that_overlap_is_refused():
    def f(x):
        x.index_put_((fg.tensor([0]),), x[0])

    same_outcome(f, lambda function: error_of(lambda: function(plain(3, 3))))


# ---- views


def test_a_view_of_several_may_not_be_written_by_the_caller_either():
    for view in (lambda x: x.split(1)[1], lambda x: x.unbind(0)[1], lambda x: x.chunk(2)[1][0]):
        for make in (nonleaf, lambda *shape: (leaf(*shape).sin(), None)):
            same_outcome(view, lambda function: error_of(lambda: function(make(3, 2)[0]).sin_()))


def test_a_view_that_has_a_hook_may_be_written_by_the_caller():
    def f(x):
        part = x[0]
        part.register_hook(lambda g: g * 2)
        return part

    def outcome(function):
        x, source = nonleaf(3, 2)
        part = function(x)
        part.mul_(3)
        return [fg.autograd.grad(t.sum(), source, retain_graph=True)[0].tolist() for t in (part, x)]

    same_outcome(f, outcome)


def test_a_view_made_before_the_write_is_a_part_of_the_base():
    def f(x):
        part = x.view_as(x)
        x.mul_(2)
        return part, x.view_as(x)

    def outcome(function):
        base, source = nonleaf(3, 4)
        x = base[:, ::2]
        return [[g is None for g in fg.autograd.grad(r.sum(), [x, source], allow_unused=True,
                                                    retain_graph=True)]
                for r in function(x)]

    same_outcome(f, outcome)


def test_views_of_results_are_views_of_each_other():
    def f(x):
        whole = x.sin().view(-1)
        return whole[:2], whole

    def outcome(function):
        part, whole = function(leaf(2, 2))
        whole.retain_grad()
        (part.sum() * 3 + whole.sum()).backward()
        return whole.grad.tolist()

    same_outcome(f, outcome)


def test_a_gradient_that_would_miss_a_part_is_refused_for_views_too():
    def f(x):
        part = x[0]
        return part, part.sin()

    part, _ = fg.compile(f, fullgraph=True)(leaf(3, 2))
    with pytest.raises(RuntimeError, match="would miss"):
        part.retain_grad()


def test_views_of_custom_functions_in_no_grad_mode():
    class Turn(fg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.t()

        @staticmethod
        def backward(ctx, grad):
            return grad.t()

    def outcome(function):
        with fg.no_grad():
            turned = function(leaf(3, 2))
        return turned.is_leaf, turned.requires_grad

    same_outcome(Turn.apply, outcome)


# ---- shapes that change in place


def test_views_of_a_tensor_that_changes_its_shape_in_place_are_refused():
    def f(x):
        y = x.cos()
        part = y.transpose(0, 1)
        y.transpose_(0, 2)
        return part

    refused(f, plain(2, 2, 3), match="changes the shape")
    with pytest.warns(UserWarning, match="changes the shape"):
        assert fg.compile(f)(plain(2, 2, 3)).shape == (2, 2, 3)


def test_the_shape_of_an_intermediate_changes_in_place():
    def f(x):
        y = x.cos()
        y.t_()
        y.unsqueeze_(0)
        return y, y[0]

    alike(f, lambda: [leaf(2, 3)])


def test_views_of_an_input_that_changes_its_shape_and_is_written_then():
    def f(x):
        x.unsqueeze_(0)
        part = x[:, 1:]
        x.mul_(2)
        return part, part.t()

    alike(f, lambda: [plain(3)])


def test_a_view_that_becomes_a_leaf_is_refused():
    def f(x):
        part = x[1]
        part.requires_grad_()
        return part

    refused(f, plain(3, 2), match="returns a tensor that it made and that requires grad")


def test_a_view_that_changes_its_shape_stays_in_the_memory_of_the_input():
    def f(x, y):
        part = y[1:]
        part.squeeze_()
        return x * x, part

    alike(f, lambda: [leaf(3), plain(2, 3)])


def test_a_view_of_data_that_changes_its_shape_has_no_history():
    def f(x):
        part = x.data[1:]
        with fg.no_grad():
            part.squeeze_()
        return part

    alike(f, lambda: [leaf(2, 3)])


def test_a_view_that_is_overwritten_is_refused():
    def f(x):
        x.zero_()
        return fg.hypot(x, x)

    base, _ = nonleaf(5, 3)
    refused(f, base[1:-1], match="overwrites all of an input")


def test_a_written_argument_that_is_also_reached_in_another_way():
    class Holder:
        pass

    def f(x, y, holder):
        x[:] = y
        return holder.x * 2

    def outcome(function):
        x, y, holder = plain(3), leaf(3), Holder()
        holder.x = x
        return fg.autograd.grad(function(x, y, holder).sum(), y)[0].tolist()

    same_outcome(f, outcome)


def test_a_result_with_a_history_that_leads_to_no_input_is_refused():
    def f():
        made = fg.ones(3, requires_grad=True)
        with fg.no_grad():
            part = made[:2]
        return part * 2

    refused(f, match="requires grad and that the function made")


# ---- hooks and versions


def test_hooks_on_a_view_that_is_written_stay_with_what_it_was():
    def f(x):
        x.mul_(3)

    def outcome(function):
        base, source = nonleaf(3, 4)
        x, seen = base[:, ::2], []
        x.register_hook(seen.append)
        function(x)
        base.sum().backward()
        return len(seen), source.grad.tolist()

    with pytest.warns(UserWarning, match="has hooks"):
        assert outcome(fg.compile(f)) == outcome(f)


def test_a_view_that_has_a_hook_inside_and_is_written_is_refused():
    def f(x):
        part = x.view(-1)
        part.register_hook(lambda g: g * 2)
        part.tanh_()

    refused(f, nonleaf(3)[0], match="writes to a view that it has a hook on")


def test_the_gradient_of_a_view_that_was_written_unseen_is_not_known():
    def f(x):
        with fg.no_grad():
            x.add_(1)
        return x.sin()

    base, source = nonleaf(3, 4)
    x = base[:, ::2]
    result = fg.compile(f, fullgraph=True)(x)
    with pytest.raises(RuntimeError, match="would miss"):
        fg.autograd.grad(result.sum(), x)


def test_data_has_a_version_of_its_own():
    def f(x):
        y = x * 1
        return y.data, y.detach(), y.data

    def outcome(function):
        found = []
        results = function(plain(3))
        for one in results:
            before = [r._version for r in results]
            one.add_(1)
            found.append([r._version - v for r, v in zip(results, before)])
        return found

    same_outcome(f, outcome)


def test_data_of_a_reached_tensor_counts_with_its_views():
    reached = plain(3)

    def f(x):
        data = reached.data
        return data.detach(), data, data[1:], x * 1

    def outcome(function):
        results = function(plain(3))
        results[0].add_(1)
        return [r._version for r in results], reached._version

    same_outcome(f, outcome)


def test_a_write_through_data_to_what_a_gradient_reads_is_refused():
    def f(x):
        y = x * 1
        z = y.sin()
        y.data.add_(1)
        return z

    refused(f, leaf(3), match="writes through .data")

    def step(w):
        w.data.add_(1)

    alike(step, lambda: [leaf(3)])


def test_data_of_what_a_gradient_reads_is_not_returned():
    def f(x):
        y = x * 2
        return y.sin(), y.data

    refused(f, leaf(3), match="returns .data of a tensor that its gradient reads")


def test_only_what_the_wanted_gradients_read_is_compared():
    def f(x, y):
        return x.exp() * y, y.sin()

    def outcome(function):
        x, y = leaf(3), leaf(3)
        first, second = function(x, y)
        with fg.no_grad():
            x.add_(1)
        return fg.autograd.grad(second.sum(), y)[0].tolist()

    same_outcome(f, outcome)


@pytest.mark.parametrize("again", [False, True])
def test_a_result_that_eager_code_saves_may_not_be_written(again):
    def outcome(function):
        x = leaf(3)
        result = function(x)
        result.mul_(2)
        return error_of(lambda: fg.autograd.grad(result.sum(), x, create_graph=again))

    for f in (lambda x: x.softmax(0), lambda x: x.sin() * 2, lambda x: fg.hypot(x, x)):
        same_outcome(f, outcome)
        with_min_cut = aot_function(f, nop, partition_fn=min_cut_rematerialization_partition)
        assert outcome(with_min_cut) == outcome(f)


# ---- layouts, second derivatives


def test_saved_tensor_hooks_over_an_expanded_leaf_and_second_derivatives():
    def outcome(function):
        x = plain(1, 2).expand(3, 2).detach().requires_grad_()
        with saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
            y = function(x)
        weights = plain(3, 2)
        grad, = fg.autograd.grad(y, x, weights, create_graph=True)
        return fg.autograd.grad((grad * weights).sum(), x)[0].tolist()

    same_outcome(lambda x: x.exp() * x, outcome)


def test_what_a_result_does_not_depend_on_is_not_asked_for_it():
    def f(x, y):
        first = x * 2
        return first.view(-1), y * 2

    def outcome(function):
        x, y = leaf(3), leaf(3)
        first, second = function(x, y)
        seen = []
        first.register_hook(lambda g: seen.append(1))
        grads = fg.autograd.grad([first.sum(), second.sum()], y)
        return len(seen), grads[0].tolist()

    same_outcome(f, outcome)


def test_a_second_derivative_reads_what_was_saved_not_the_inputs():
    def f(x):
        return x.view(-1)[0], (x * 3).sigmoid()

    def outcome(function):
        x, source = nonleaf(2, 3)
        part, result = function(x)
        part.mul_(2)  # x has another history now
        grad, = fg.autograd.grad(result.sum(), source, create_graph=True)
        second, = fg.autograd.grad(grad.sum(), source, create_graph=True)
        third, = fg.autograd.grad(second.sum(), source)
        return [[round(v, 10) for v in t.view(-1).tolist()] for t in (grad, second, third)]

    same_outcome(f, outcome)


def test_a_hook_on_a_result_that_a_second_derivative_goes_through_is_refused():
    x = leaf(3)
    y = fg.compile(lambda x: x.exp(), fullgraph=True)(x)  # saved: its result
    y.retain_grad()
    grad, = fg.autograd.grad(y.sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="would miss"):
        grad.sum().backward()


def test_roots_that_do_not_lead_to_what_is_asked_for_are_not_waited_for():
    def f(x):
        with fg.no_grad():
            part = x[0]
        return fg.outer(part.view(-1), part.view(-1))[:1], x.sin()

    def outcome(function):
        source = leaf(2, 3)
        base = source * 1.0
        x = base[:, ::2]
        first, second = function(x)
        return [[None if g is None else g.tolist() for g in fg.autograd.grad(
            [r.sum() for r in roots], [source], allow_unused=True, retain_graph=True)]
                for roots in ([first, base], [first], [first, second], [second, base])]

    same_outcome(f, outcome)


def test_an_input_of_another_shape_afterwards_and_second_derivatives():
    def f(x, y):
        x.unsqueeze_(0)
        return y.sin() * x

    def outcome(function):
        y = leaf(3)
        grad, = fg.autograd.grad(function(plain(3), y).sum(), y, create_graph=True)
        return fg.autograd.grad(grad.sum(), y)[0].tolist()

    same_outcome(f, outcome)


def test_a_backward_that_fails_where_nobody_wants_it_is_refused():
    def f(x):
        with fg.no_grad():
            part = x[:2]
        values, places = (part * 1).sort(0)
        with fg.no_grad():
            places[0] = 0
        return values

    refused(f, fg.ones(3, requires_grad=True), match="modified by an inplace operation")


def test_a_backward_without_inputs_reads_what_leads_to_no_leaf_too():
    def f(x):
        with fg.no_grad():
            part = x[:2]
        return (part * 1).log_softmax(0)

    def outcome(function):
        result = function(fg.ones(3, requires_grad=True))
        result.mul_(2)
        return error_of(lambda: result.sum().backward())

    same_outcome(f, outcome)


def test_the_gradient_of_a_result_that_has_a_hook_inside_is_not_seen_outside():
    def f(x):
        y = x * 2
        y.register_hook(lambda g: g + 1)
        return y

    y = fg.compile(f, fullgraph=True)(leaf(3))
    with pytest.raises(RuntimeError, match="would miss"):
        y.retain_grad()

    def kept(x):
        y = f(x)
        y.retain_grad()
        return y

    refused(kept, leaf(3), match="keeps the gradient of a result")

"""Backwards and hooks that write: what the caller's tensors are afterwards, and what is refused."""

import warnings

import foregrad as fg
import pytest
from capture_compare import elements, leaf, plain
from foregrad.autograd import Function


def look(tensors):
    return [(elements(t).tolist(), t._version, t.stride(), tuple(t.shape), t.requires_grad,
             t.grad if t.grad is None else elements(t.grad).tolist()) for t in tensors]


def observe(function, make, calls=1, backwards=1, tangent=None, **options):
    """Gradients and all tensors of the caller, after each of several backwards of several calls."""
    fg.manual_seed(0)
    made = make()
    seen = []
    for _ in range(calls):
        x = leaf(3)
        result = function(x, *made)
        grad = tangent() if tangent else fg.ones_like(result)
        for _ in range(backwards):
            found, = fg.autograd.grad(result, x, grad, retain_graph=True, **options)
            seen.append((elements(found).tolist(), look([x, grad, *made])))
    return seen


def alike(function, make=lambda: [plain(3)], **how):
    """Captured, and equal to eager."""
    for fullgraph in (True, False):
        compiled = fg.compile(function, fullgraph=fullgraph)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for options in ({}, {"calls": 2}, {"backwards": 2}, {"calls": 2, "backwards": 3}):
                expected = observe(function, make, **options, **how)
                assert observe(compiled, make, **options, **how) == expected
        assert len(compiled.compiled.versions) == 1
    return compiled


def eager_instead(function, make=lambda: [plain(3)], *, match, backwards=2, **how):
    """Refused with a sentence; without fullgraph it runs eagerly, with the warning."""
    with pytest.raises(RuntimeError, match=match):
        observe(fg.compile(function, fullgraph=True), make, **how)
    with pytest.warns(UserWarning, match=match):
        found = observe(fg.compile(function), make, calls=2, backwards=backwards, **how)
    assert found == observe(function, make, calls=2, backwards=backwards, **how)


def custom(backward, forward=None):
    """A function of x and b that keeps b on its context."""

    class Custom(Function):
        @staticmethod
        def forward(ctx, x, b):
            ctx.x, ctx.b = x, b
            return forward(ctx, x, b) if forward else x * 1.0

        @staticmethod
        def backward(ctx, g):
            return backward(ctx, g), None

    return Custom.apply


def refused_when_captured(backward, match):
    apply = custom(backward)
    eager_instead(lambda x, b: apply(x, b), match=match)


# ---- writes to inputs of the function


def add_and_scale(ctx, g):
    ctx.b.add_(1)
    return g * ctx.b


def test_an_input_kept_on_the_context_is_written_once_per_backward():
    apply = custom(add_and_scale)
    alike(lambda x, b: apply(x, b))
    alike(lambda x, b: apply(x * 2, b).sin())


@pytest.mark.parametrize("write", [
    lambda b, g: b.mul_(2), lambda b, g: b.copy_(g), lambda b, g: b.zero_(),
    lambda b, g: b.add_(g.detach()).mul_(3), lambda b, g: b[0].add_(1),
    lambda b, g: b[1:].copy_(g[:2]), lambda b, g: b.detach().add_(1),
    lambda b, g: b.data.add_(1), lambda b, g: b.view(-1)[::2].fill_(7.0)])
def test_every_way_of_writing_to_an_input(write):
    def backward(ctx, g):
        before = ctx.b * 2
        write(ctx.b, g)
        return g * ctx.b + before

    apply = custom(backward)
    alike(lambda x, b: apply(x, b))


def test_an_input_that_requires_grad_is_written():
    def backward(ctx, g):
        with fg.no_grad():
            ctx.b.add_(1)
        return g * ctx.b

    apply = custom(backward)
    alike(lambda x, b: apply(x, b), lambda: [leaf(3)])


def test_an_input_of_another_layout_is_written():
    apply = custom(lambda ctx, g: g * ctx.b.add_(1).sum(0))
    alike(lambda x, b: apply(x, b), lambda: [plain(3, 2).t()])
    alike(lambda x, b: apply(x, b), lambda: [plain(4, 6)[1:3, ::2]])


def test_a_hook_writes_to_a_tensor_that_the_forward_reads():
    count = plain(3)

    def outcome(function):
        count.zero_()
        found = observe(function, lambda: [plain(3)], calls=3)
        return found, elements(count).tolist()

    def f(x, b):
        y = x * 2 + count
        y.register_hook(lambda g: g * count.mul_(2).add_(1))
        return y.sin()

    compiled = fg.compile(f, fullgraph=True)
    assert outcome(compiled) == outcome(f)
    assert len(compiled.compiled.versions) == 1


class Holder:
    def __init__(self):
        self.seen = fg.zeros(3, dtype=fg.float64)


def test_a_hook_writes_to_a_tensor_of_an_object():
    def make(holder):
        def f(x):
            y = x + holder.seen
            y.register_hook(lambda g: holder.seen.add_(g.detach()) * 1.0)
            return y * 3
        return f

    def outcome(function, holder):
        seen = []
        for _ in range(3):
            x = leaf(3)
            y = function(x)
            y.sum().backward()
            seen.append((elements(y).tolist(), elements(x.grad).tolist(),
                         elements(holder.seen).tolist(), holder.seen._version))
        return seen

    one, two = Holder(), Holder()
    assert outcome(fg.compile(make(one), fullgraph=True), one) == outcome(make(two), two)


def test_an_input_written_in_the_forward_and_again_in_the_backward():
    def forward(ctx, x, b):
        b.add_(1)
        return x * b

    apply = custom(add_and_scale, forward)
    alike(lambda x, b: apply(x, b))

    def f(x, b):
        b.mul_(2)
        y = apply(x, b)
        b.add_(5)
        return y * b.sum()

    alike(f)


def test_a_tensor_of_an_object_written_in_the_forward_and_again_in_the_backward():
    apply = custom(add_and_scale)

    def make(holder):
        def f(x):
            holder.seen[0] = 2.0
            return apply(x, holder.seen).sin()
        return f

    def outcome(function, holder):
        x = leaf(3)
        grads = [elements(fg.autograd.grad(function(x).sum(), x)[0]).tolist() for _ in range(2)]
        return grads, look([holder.seen])

    one, two = Holder(), Holder()
    assert outcome(fg.compile(make(one), fullgraph=True), one) == outcome(make(two), two)


def test_a_tensor_that_the_caller_changes_meanwhile_is_read_as_it_is_then():
    apply = custom(lambda ctx, g: g * ctx.b)

    def outcome(function):
        x, b = leaf(3), plain(3)
        y = function(x, b)
        b.mul_(10)
        return elements(fg.autograd.grad(y.sum(), x)[0]).tolist()

    assert outcome(fg.compile(lambda x, b: apply(x, b), fullgraph=True)) == outcome(apply)
    derived = custom(lambda ctx, g: g * ctx.b.exp(), lambda ctx, x, b: x * b.exp())
    assert outcome(fg.compile(lambda x, b: derived(x, b), fullgraph=True)) == outcome(derived)


def test_what_was_saved_and_is_written_in_the_backward_is_an_error_at_the_next_one():
    class Saves(Function):
        @staticmethod
        def forward(ctx, x, b):
            ctx.save_for_backward(b)
            return x * b

        @staticmethod
        def backward(ctx, g):
            b, = ctx.saved_tensors
            b.add_(1)
            return g * b, None

    def outcome(function):
        x, b = leaf(3), plain(3)
        y = function(x, b)
        found = fg.autograd.grad(y.sum(), x, retain_graph=True)[0]
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            fg.autograd.grad(y.sum(), x, retain_graph=True)
        return elements(found).tolist(), look([b])

    compiled = fg.compile(lambda x, b: Saves.apply(x, b), fullgraph=True)
    assert outcome(compiled) == outcome(Saves.apply)


def test_a_backward_that_reads_parts_and_constants_of_the_forward_is_captured():
    def forward(ctx, x, b):
        ctx.numbers = fg.tensor([1.0, 2.0, 3.0], dtype=fg.float64)
        ctx.part, ctx.inner = b[0], (x * b).sin()
        return x * b

    def backward(ctx, g):
        y = (g * 2).exp() + ctx.part
        z = y * ctx.b[1] + ctx.inner[2] * ctx.inner
        ctx.b[1].mul_(2)
        return z * ctx.numbers + ctx.numbers[1] * ctx.b[1] + ctx.part

    apply = custom(backward, forward)
    alike(lambda x, b: apply(x, b))


def test_two_inputs_that_are_exchanged():
    class Swap(Function):
        @staticmethod
        def forward(ctx, x, a, b):
            ctx.a, ctx.b = a, b
            return x * a

        @staticmethod
        def backward(ctx, g):
            old = ctx.a.clone()
            ctx.a.copy_(ctx.b)
            ctx.b.copy_(old)
            return g * ctx.a, None, None

    alike(lambda x, a, b: Swap.apply(x, a, b), lambda: [plain(3), plain(3, start=2.0)])


def test_inputs_that_share_memory_with_one_that_a_backward_writes_are_refused():
    apply = custom(add_and_scale)

    def shared():
        b = plain(4)
        return [b[:3], b[1:]]

    eager_instead(lambda x, b, c: apply(x, b) + c, shared, match="shares memory")


def test_an_input_that_is_saved_for_one_result_and_reached_for_another():
    apply = custom(lambda ctx, g: g * ctx.b)

    def f(x, b):
        y = x * b
        return y, apply(y, b)

    def outcome(function):
        x, b = leaf(3), plain(3)
        results = function(x, b)
        return [elements(fg.autograd.grad(r.sum(), x, retain_graph=True)[0]).tolist()
                for r in results]

    assert outcome(fg.compile(f, fullgraph=True)) == outcome(f)


def test_a_gradient_that_is_the_memory_of_an_input_stays_what_it_was():
    apply = custom(lambda ctx, g: ctx.b)

    def outcome(function):
        x, b = leaf(3), plain(3)
        y = function(x, b)
        y.sum().backward()
        b.add_(1)
        (x * 2).sum().backward()
        return elements(x.grad).tolist(), look([b])

    assert outcome(fg.compile(lambda x, b: apply(x, b), fullgraph=True)) == outcome(apply)


# ---- gradients that come


def test_a_write_to_the_gradient_that_comes():
    apply = custom(lambda ctx, g: g.mul_(3) + ctx.b)
    alike(lambda x, b: apply(x, b))
    alike(lambda x, b: apply(x, b), tangent=lambda: plain(3))
    alike(lambda x, b: apply(x, b), tangent=lambda: plain(6)[::2])

    def hooked(x, b):
        y = x * b
        y.register_hook(lambda g: g.add_(1))
        return y

    alike(hooked)


def test_a_gradient_whose_elements_share_memory_is_not_written():
    apply = custom(lambda ctx, g: g.mul_(3))
    compiled = fg.compile(lambda x, b: apply(x, b), fullgraph=True)
    for function in (apply, compiled):
        with pytest.raises(RuntimeError, match="single memory location"):
            function(leaf(3), plain(3)).sum().backward()


def test_gradients_that_share_memory_are_an_error_if_one_is_written():
    def f(x, b):
        y, z = x * b, x + b
        y.register_hook(lambda g: g.mul_(2))
        return y, z

    y, z = fg.compile(f, fullgraph=True)(leaf(3), plain(3))
    g = plain(3)
    with pytest.raises(RuntimeError, match="share"):
        fg.autograd.backward([y, z], [g, g])


# ---- what is refused


def test_a_change_of_layout_in_the_backward_is_refused():
    def backward(ctx, g):
        ctx.b.unsqueeze_(0)
        return g * 2

    apply = custom(backward)
    eager_instead(lambda x, b: apply(x, b), match="change of shape")
    given = custom(lambda ctx, g: g.unsqueeze_(0).squeeze(0) * 2)

    def of_the_gradient(x, b):
        return given(x, b)

    eager_instead(of_the_gradient, match="change of shape", backwards=1)


@pytest.mark.parametrize("change", [
    lambda b: b.requires_grad_(), lambda b: setattr(b, "grad", fg.ones_like(b)),
    lambda b: setattr(b, "data", fg.ones_like(b))])
def test_other_changes_of_an_input_in_the_backward_are_refused(change):
    def backward(ctx, g):
        change(ctx.b)
        return g * 2

    refused_when_captured(backward, match="a backward or a hook applies")


def test_a_refusal_that_the_backward_catches_is_one_all_the_same():
    def backward(ctx, g):
        try:
            ctx.b.unsqueeze_(0)
        except RuntimeError:
            pass
        return g * 2

    refused_when_captured(backward, match="change of shape")


def test_writes_to_what_the_function_made_are_refused():
    def forward(ctx, x, b):
        ctx.sum = fg.zeros(3, dtype=fg.float64)
        return x * b

    def backward(ctx, g):
        ctx.sum.add_(g)
        return ctx.sum * 1.0

    apply = custom(backward, forward)
    eager_instead(lambda x, b: apply(x, b), match="that the function made")

    def literal(ctx, x, b):
        ctx.sum = fg.tensor([1.0, 2.0, 3.0], dtype=fg.float64)
        return x * b

    constant = custom(backward, literal)

    def of_numbers(x, b):
        return constant(x, b)

    eager_instead(of_numbers, match="that the function made")

    def hooked(x, b):
        y = x * b
        y.register_hook(lambda g: g * y.detach().add_(1))
        return y

    eager_instead(hooked, match="that the function made")


def test_a_write_to_a_tensor_that_the_forward_did_not_use_is_refused():
    count = plain(3)
    apply = custom(lambda ctx, g: g * ctx.b.add_(1))

    def f(x, b):
        return apply(x + b, count)

    def outcome(function):
        count.zero_()
        return observe(function, lambda: [plain(3)], calls=2), elements(count).tolist()

    with pytest.raises(RuntimeError, match="used by the backward alone"):
        outcome(fg.compile(f, fullgraph=True))
    with pytest.warns(UserWarning, match="used by the backward alone"):
        found = outcome(fg.compile(f))
    assert found == outcome(f)


def test_numbers_that_a_backward_counts_are_refused():
    def forward(ctx, x, b):
        ctx.count = 0
        return x * b

    def backward(ctx, g):
        ctx.count += 1
        return g * ctx.count

    apply = custom(backward, forward)
    eager_instead(lambda x, b: apply(x, b), match="something else each time")


def test_variables_that_a_hook_changes_are_refused():
    state = {"count": 0}

    def f(x, b):
        y = x * b * state["count"]

        def hook(g):
            state["count"] += 1

        y.register_hook(hook)
        return y

    def outcome(function):
        state["count"] = 1
        return observe(function, lambda: [plain(3)], calls=3), state["count"]

    with pytest.raises(RuntimeError, match="changes what the function reads"):
        outcome(fg.compile(f, fullgraph=True))
    with pytest.warns(UserWarning, match="changes what the function reads"):
        found = outcome(fg.compile(f))
    assert found == outcome(f)


def test_random_numbers_of_a_backward_are_refused():
    refused_when_captured(lambda ctx, g: g * fg.rand(3, dtype=fg.float64), match="random numbers")


def test_gradients_that_a_backward_accumulates_are_refused():
    def backward(ctx, g):
        with fg.enable_grad():
            (ctx.x.detach().requires_grad_() * 2).sum().backward()
            (ctx.x * 2).sum().backward()
        return g * 2

    refused_when_captured(backward, match="changes .grad")


def test_a_backward_that_records_a_forward_of_its_own_is_captured():
    def backward(ctx, g):
        with fg.enable_grad():
            inner = ctx.x.detach().requires_grad_()
            grad, = fg.autograd.grad((inner.sin() * ctx.b).sum(), inner)
        return g * grad

    apply = custom(backward)
    alike(lambda x, b: apply(x, b))


# ---- derivatives of higher order


def test_a_backward_that_writes_is_not_differentiated_again():
    for backward in (add_and_scale, lambda ctx, g: g.mul_(2)):
        apply = custom(backward)
        x, b = leaf(3), plain(3)
        y = fg.compile(lambda x, b: apply(x, b), fullgraph=True)(x, b)
        with pytest.raises(RuntimeError, match="without create_graph"):
            fg.autograd.grad(y, x, fg.ones_like(y), create_graph=True)
        assert look([b]) == look([plain(3)])


def test_a_backward_that_reads_an_input_can_be_differentiated_again():
    apply = custom(lambda ctx, g: g * ctx.b * ctx.b, lambda ctx, x, b: x * b)

    def outcome(function):
        x, b = leaf(3), leaf(3, start=2.0)
        y = function(x, b)
        first, = fg.autograd.grad(y.sum(), x, create_graph=True)
        second, = fg.autograd.grad(first.sum(), b)
        return elements(first).tolist(), elements(second).tolist()

    assert outcome(fg.compile(lambda x, b: apply(x, b), fullgraph=True)) == outcome(apply)


def test_saved_tensor_hooks_around_an_input_that_a_backward_reaches_and_saves():
    """They pack another tensor than the one that the backward has."""

    def backward(ctx, g):
        with fg.no_grad():
            ctx.b.add_(1)
        return g * ctx.b

    apply = custom(backward)

    def function(x, b):
        return apply(x, b) * b

    compiled = fg.compile(function)

    def packed(call):
        b = fg.ones(3)
        with fg.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
            x = leaf(3)
            result = call(x, b)
        seen = []
        for _ in range(3):
            grad, = fg.autograd.grad(result.sum(), x, retain_graph=True)
            seen.append((grad.tolist(), b.tolist()))
        return seen

    compiled(leaf(3), fg.ones(3))
    with pytest.warns(UserWarning, match="saved-tensor hooks may make two"):
        found = packed(compiled)
    assert found == packed(function)


def test_a_backward_that_writes_runs_where_no_gradient_comes_from_it():
    def backward(ctx, g):
        with fg.no_grad():
            ctx.b.add_(1)
        return None

    apply = custom(backward)
    function = fg.compile(lambda x, b: apply(x, b), fullgraph=True)
    for _ in range(2):
        x, b = leaf(3), fg.zeros(3)
        function(x, b).sum().backward()
        assert b.tolist() == [1, 1, 1] and x.grad is None


def test_a_write_to_a_gradient_that_an_input_gets_too_is_refused():
    """Whether the input sees it depends on gradients that it gets from outside."""
    apply = custom(lambda ctx, g: g.mul_(2) + 1)

    def function(x, b):
        return apply(x, b) + x

    eager_instead(function, match="a gradient that an input gets, too")

    def outside(call):
        leaf_of_all = leaf(3)
        x = leaf_of_all * 1
        result = call(x, plain(3))
        grads = [fg.ones(3), fg.ones(3)]
        return fg.autograd.grad([result, x], [leaf_of_all], grads)[0].tolist()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert outside(fg.compile(function)) == outside(function)

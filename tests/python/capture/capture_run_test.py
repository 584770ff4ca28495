"""Calls of captured functions: modes, what is kept for the backward, hooks around them."""

import contextvars
import gc
import weakref

import foregrad as fg
import pytest
from capture_compare import alike, leaf, nonleaf, plain, versions_of
from foregrad.autograd.graph import get_gradient_edge, saved_tensors_hooks


def same_outcome(function, outcome):
    """What `outcome` says of the function is the same for its captured form."""
    assert outcome(fg.compile(function, fullgraph=True)) == outcome(function)


def test_a_call_without_gradients_leaves_the_grad_mode_alone():
    compiled = fg.compile(lambda x: x * 2, fullgraph=True)
    for enabled in (True, False, True):
        with fg.set_grad_enabled(enabled):
            result = compiled(leaf(3))
            assert fg.is_grad_enabled() == enabled and result.requires_grad == enabled


def test_inference_mode():
    compiled = fg.compile(lambda x: x * 2, fullgraph=True)
    with fg.inference_mode():
        assert compiled(plain(3)).is_inference()
    assert not compiled(plain(3)).is_inference()


def test_grad_mode_is_restored_after_an_error():
    def f(x, i):
        with fg.no_grad():
            return x[i]

    compiled = fg.compile(f, fullgraph=True)
    compiled(plain(3), fg.tensor([0]))
    with pytest.raises(IndexError):
        compiled(plain(3), fg.tensor([9]))
    assert fg.is_grad_enabled()


def test_the_history_of_an_input_without_gradient_is_not_walked():
    def f(x, y):
        return x.detach() * y

    def outcome(function):
        x, source = nonleaf(3)
        y = leaf(3)
        calls = []
        source.register_hook(lambda g: calls.append(1))
        function(x, y).sum().backward()
        return source.grad, y.grad.tolist(), calls

    same_outcome(f, outcome)


def test_a_compiler_that_returns_too_few_values_is_told():
    from foregrad.compiler import aot_function

    def too_few(graph, example_inputs):
        return lambda *args: graph(*args)[:-1]

    with pytest.raises(RuntimeError, match="forward returned 1 values; expected 2"):
        aot_function(lambda x: (x * 2, x * 3), too_few)(plain(3))


def test_a_saved_input_that_is_written_later_is_an_error():
    def f(x):
        return x.sin()

    for function in (f, fg.compile(f, fullgraph=True)):
        x, _ = nonleaf(3)
        y = function(x)
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace"):
            y.sum().backward()


def test_an_input_that_is_not_saved_may_be_written_later():
    def f(x):
        return x * 2

    def outcome(function):
        x, source = nonleaf(3)
        y = function(x)
        x.add_(1)
        return fg.autograd.grad(y.sum(), source)[0].tolist()

    same_outcome(f, outcome)


def test_saved_values_pass_through_hooks():
    compiled = fg.compile(lambda x, y: (x * y).sin(), fullgraph=True)

    def outcome():
        packed, unpacked = [], []

        def pack(tensor):
            packed.append(tensor.clone())
            return len(packed) - 1

        def unpack(key):
            unpacked.append(key)
            return packed[key]

        x, y = leaf(3), leaf(3, start=2.0)
        with saved_tensors_hooks(pack, unpack):
            z = compiled(x, y)
        assert [t.tolist() for t in packed] == [x.tolist(), y.tolist(), (x * y).tolist()]
        assert not unpacked
        z.sum().backward()
        assert sorted(unpacked) == [0, 1, 2]  # each of them once
        return x.grad.tolist(), y.grad.tolist()

    x, y = leaf(3), leaf(3, start=2.0)
    (x * y).sin().sum().backward()
    assert outcome() == outcome() == (x.grad.tolist(), y.grad.tolist())
    assert versions_of(compiled) == 1


def test_hooks_that_change_what_is_saved_change_the_gradient():
    compiled = fg.compile(lambda x, w: x * w, fullgraph=True)
    x, w = leaf(3), leaf(3)
    with saved_tensors_hooks(lambda t: t * 0, lambda t: t + 5):
        y = compiled(x, w)
    y.sum().backward()
    assert x.grad.tolist() == w.grad.tolist() == [5, 5, 5]


def test_results_without_gradient_take_no_part_in_the_backward():
    def outcome(function):
        x = leaf(2, 3)
        y, z, place = function(x)
        assert not z.requires_grad and not place.requires_grad
        return fg.autograd.grad(y.sum(), x)[0].tolist()

    same_outcome(lambda x: (x * 2, x.detach() * 3, x.argmax(1)), outcome)


def test_saved_tensors_are_freed_when_the_backward_ends():
    class Kept:
        def __init__(self, tensor):
            self.tensor = tensor

    compiled = fg.compile(lambda x: (x * 2).sin(), fullgraph=True)

    def alive_after(**options):
        kept = []

        def pack(tensor):
            packed = Kept(tensor)
            kept.append(weakref.ref(packed))
            return packed

        with saved_tensors_hooks(pack, lambda packed: packed.tensor):
            y = compiled(leaf(3))
        assert y.grad_fn.name() == "CompiledFunctionBackward"
        assert len(kept) == 1 and kept[0]() is not None
        y.sum().backward(**options)
        return y, kept[0]() is not None  # the result and its node live on

    y, alive = alive_after()
    assert not alive
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()
    y, alive = alive_after(retain_graph=True)
    assert alive
    y.sum().backward()


def test_context_variables_of_the_caller_are_seen_by_hooks_of_a_captured_call():
    name, seen = contextvars.ContextVar("name", default="none"), []
    compiled = fg.compile(lambda x: x.sin(), fullgraph=True)

    def work(value):
        x = leaf(3)
        x.register_hook(lambda g: seen.append(name.get()))
        y = compiled(x).sum()
        name.set(value)
        y.backward()

    for value in ("one", "two"):
        contextvars.Context().run(work, value)
    assert seen == ["one", "two"] and versions_of(compiled) == 1


def test_a_call_that_is_forgotten_frees_its_tensors():
    compiled = fg.compile(lambda x: (x * 2).sin(), fullgraph=True)
    x = leaf(3)
    y = compiled(x)
    gone = weakref.ref(x)
    y.sum().backward()
    del x, y
    gc.collect()
    assert gone() is None


def test_layouts_of_saved_values_are_those_of_the_forward():
    def f(x, y):
        z = (x.t() @ y).t()
        return (z.sin() * z).t()

    alike(f, lambda: [leaf(4, 3), leaf(4, 5)])
    alike(lambda x: x.t().exp().sum(0) * x.t().contiguous(), lambda: [leaf(4, 3)])


def test_hooks_on_inputs_and_results_see_gradients():
    def outcome(function):
        x, source = nonleaf(3)
        seen = []
        for name, tensor in (("source", source), ("x", x)):
            tensor.register_hook(lambda g, name=name: seen.append((name, g.tolist())))
        y = function(x)
        y.register_hook(lambda g: g * 3)
        y.sum().backward()
        return sorted(seen), source.grad.tolist()

    same_outcome(lambda x: x.sin(), outcome)


def test_hooks_on_inputs_and_results_see_the_second_order_graph():
    def outcome(function):
        x, source = nonleaf(3)
        seen = []
        x.register_hook(lambda g: seen.append((g.requires_grad, g.tolist())))
        (grad,) = fg.autograd.grad(function(x).sum(), source, create_graph=True)
        fg.autograd.grad(grad.sum(), source)
        return seen

    same_outcome(lambda x: x.sin() * x, outcome)


def test_hooks_on_the_node_of_a_call():
    compiled = fg.compile(lambda x: (x * 2, x * 3), fullgraph=True)
    x, seen = leaf(3), []
    y, z = compiled(x)
    y.grad_fn.register_prehook(lambda grads: seen.append(len(grads)))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(len(inputs)))
    (y.sum() + z.sum()).backward()
    assert seen == [2, 1] and x.grad.tolist() == [5, 5, 5]


def test_post_accumulate_hooks_and_accumulation():
    def outcome(function):
        x, seen = leaf(3), []
        x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
        for _ in range(3):
            function(x).sum().backward()
        return seen

    same_outcome(lambda x: x * x, outcome)


def test_gradient_edges_of_inputs_and_results():
    def outcome(function):
        x, source = nonleaf(3)
        edge = get_gradient_edge(x)
        y = function(x)
        first = fg.autograd.grad(y.sum(), [edge], retain_graph=True)[0].tolist()
        tangent = plain(3)
        again = fg.autograd.grad([get_gradient_edge(y)], [source], [tangent])[0].tolist()
        return first, again

    same_outcome(lambda x: x.sin(), outcome)


def test_gradients_for_some_inputs_only():
    def outcome(function):
        x, y = leaf(3), leaf(3)
        z = function(x, y)
        z.sum().backward(inputs=[y], retain_graph=True)
        first = x.grad, y.grad.tolist()
        return first, fg.autograd.grad(z.sum(), x)[0].tolist()

    same_outcome(lambda x, y: x * y, outcome)


def test_gradients_for_inputs_that_are_no_leaves():
    def outcome(function):
        x, source = nonleaf(3)
        z = function(x)
        return [g.tolist() for g in fg.autograd.grad(z.sum(), [x, source])]

    same_outcome(lambda x: x.sin(), outcome)


def test_the_gradient_for_a_tensor_that_the_function_wrote_and_used_is_refused():
    def f(x):
        x[0] = -1.5
        return x ** 2

    x, source = nonleaf(3)
    y = fg.compile(f, fullgraph=True)(x)
    with pytest.raises(RuntimeError, match="would miss"):
        fg.autograd.grad(y.sum(), x, retain_graph=True)
    assert fg.autograd.grad(y.sum(), source)[0].tolist() == pytest.approx([0, 1.2, 1.4])


def test_gradients_between_results_of_one_call_are_refused():
    def f(x):
        y = x * 2
        return y, y.sin()

    x = leaf(3)
    y, z = fg.compile(f, fullgraph=True)(x)
    for ask in (lambda: fg.autograd.grad(z.sum(), y), y.retain_grad,
                lambda: y.register_hook(lambda g: g * 2)):
        with pytest.raises(RuntimeError, match="would miss"):
            ask()
    other = leaf(3)
    (z.sum() + y.sum()).backward()
    sum(part.sum() for part in f(other)).backward()
    assert x.grad.tolist() == pytest.approx(other.grad.tolist(), rel=1e-14)


def test_an_input_that_no_gradient_needs_may_be_written_before_a_second_derivative():
    def outcome(function):
        x, buffer = leaf(3), plain(3)
        y, _ = function(x, buffer)
        buffer.add_(1)
        return fg.autograd.grad(y.sum(), x, create_graph=True)[0].tolist()

    same_outcome(lambda x, b: (x.sin(), b), outcome)


def test_a_call_in_the_backward_of_another():
    inner = fg.compile(lambda g: g * 3, fullgraph=True)

    def outcome(function):
        x = leaf(3)
        y = function(x)
        y.register_hook(lambda g: inner(g))
        y.sum().backward()
        return x.grad.tolist()

    same_outcome(lambda x: x.sin(), outcome)


def test_captured_functions_in_a_row_and_in_turn():
    first = fg.compile(lambda x: x.sin(), fullgraph=True)
    second = fg.compile(lambda x, y: x * y, fullgraph=True)
    x, other = leaf(3), leaf(3)
    second(first(second(x, x)), first(x)).sum().backward()
    ((other * other).sin() * other.sin()).sum().backward()
    assert x.grad.tolist() == pytest.approx(other.grad.tolist(), rel=1e-14)
    assert versions_of(first) == 2  # leaf and not


def test_a_result_is_not_differentiated_for_an_input_that_it_does_not_depend_on():
    def f(x, y):
        return x * 2, y * 2

    def outcome(function):
        x, y = leaf(3), leaf(3)
        first, _ = function(x, y)
        first.retain_grad()
        assert fg.autograd.grad(first.sum(), y, allow_unused=True) == (None,)
        return first.grad is None

    same_outcome(f, outcome)


def test_a_saved_value_that_a_gradient_does_not_need_may_be_written():
    def outcome(function):
        x, y = leaf(3), leaf(3)
        first, second = function(x, y)
        first.sin_()
        return fg.autograd.grad(second.sum(), y)[0].tolist()

    same_outcome(lambda x, y: (x.sigmoid(), y * 2), outcome)


def test_saved_tensor_hooks_and_second_derivatives_of_written_views(run_program):
    program = """
        import foregrad as fg
        from foregrad.autograd.graph import saved_tensors_hooks
        def f(x):
            x.reshape(-1).tanh_()
        w = fg.ones(3, 6, requires_grad=True)
        x = (w * 1.0)[..., ::2]
        with saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
            fg.compile(f, fullgraph=True)(x)
        (grad,) = fg.autograd.grad(x, w, fg.ones(3, 3), create_graph=True)
        fg.autograd.grad(grad.sum(), w)
    """
    run_program(program)


def test_hooks_that_give_another_layout_back():
    def outcome(function):
        x = leaf(2, 6).detach()[:, ::2].requires_grad_()
        with saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
            y = function(x)
        return fg.autograd.grad(y, x)[0].tolist()

    same_outcome(lambda x: x.prod(), outcome)


def test_hooks_that_give_an_expanded_tensor_back_in_another_layout():
    def outcome(function):
        x = leaf(3).detach().expand(2, 3).requires_grad_()
        with saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
            y = function(x)
        return fg.autograd.grad(y.sum(), x)[0].tolist()

    same_outcome(lambda x: x.sin(), outcome)

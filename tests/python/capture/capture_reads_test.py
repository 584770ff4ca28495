"""What captured functions read of tensors and of the library is right, guarded or refused."""

import gc
import math
import warnings
import weakref

import foregrad as fg
import pytest
from capture_compare import leaf, nonleaf, plain, versions_of


class Holder:
    """Attributes."""


def values(result):
    tensors = result if isinstance(result, tuple) else [result]
    return str([(t.dtype, t.tolist()) for t in tensors])  # as text: NaN is not NaN


def agrees(function, *calls, refused=None):
    """Eager and captured agree on each of the calls; `refused` is why it runs eagerly instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = fg.compile(function)
        for arguments in calls:
            assert values(compiled(*arguments)) == values(function(*arguments))
    if refused is None:
        assert compiled.compiled.refused is None and versions_of(compiled) > 0
    else:
        assert refused in compiled.compiled.refused


def test_where_a_tensor_starts_in_its_memory():
    base = plain(8)
    agrees(lambda x: x * x.storage_offset(), [base[1:3]], [base[2:4]],
           refused="reads storage_offset of an input")


def test_whether_a_tensor_is_a_view_and_of_what():
    agrees(lambda x: x * 2 if x._is_view() else x * 3, [plain(3)], [plain(4)[1:]],
           refused="reads _is_view of an input")
    agrees(lambda x: (x if x._base is None else x._base) * 2, [plain(4)[1:]], [plain(3)],
           refused="reads _base of an input")


def test_how_often_a_tensor_was_written():
    written = plain(3)
    written.add_(1)
    agrees(lambda x: x * x._version, [plain(3)], [written],
           refused="reads _version of an input")


def test_what_made_a_tensor():
    def f(x):
        return x * 2 if x.grad_fn.name().startswith("Mul") else x * 3

    agrees(f, [leaf(3) * 2], [leaf(3).sin()], refused="reads grad_fn of an input")


def test_the_gradient_of_an_argument():
    def f(x):
        return x * 2 if x.grad is None else x * x.grad

    x, y = leaf(3), leaf(3)
    y.grad = plain(3)
    agrees(f, [x], [y], [x], refused="reads grad of an input")


def test_attributes_of_an_argument():
    x, y = plain(3), plain(3)
    x.scale, y.scale = 3, 4
    agrees(lambda x: x * getattr(x, "scale", 0), [x], [y],
           refused="an argument has attributes of its own")


def test_whether_an_argument_retains_its_gradient():
    x, _ = nonleaf(3)
    kept, _ = nonleaf(3)
    kept.retain_grad()
    agrees(lambda x: x * 2 if x.retains_grad else x * 3, [x], [kept],
           refused="reads retains_grad of an input")


def test_whether_an_argument_requires_grad():
    agrees(lambda x: x * 2 if x.requires_grad else x * 3, [plain(3)], [leaf(3)])
    agrees(lambda x: x * 2 if x.is_leaf else x * 3, [leaf(3)], [leaf(3) * 1])
    agrees(lambda x: x * 2 if x.is_contiguous() else x * 3, [plain(2, 3)], [plain(3, 2).t()])


def test_the_default_dtype_is_read_again():
    compiled = fg.compile(lambda x: fg.ones(2))
    assert compiled(plain(1)).dtype == fg.float32
    fg.set_default_dtype(fg.float64)
    try:
        assert compiled(plain(1)).dtype == fg.float64
    finally:
        fg.set_default_dtype(fg.float32)


def test_grad_mode_and_inference_mode_are_read_again():
    def f(x):
        return x * 2 if fg.is_grad_enabled() else x * (3 if fg.is_inference_mode_enabled() else 4)

    compiled = fg.compile(f, fullgraph=True)
    for mode in (fg.enable_grad, fg.no_grad, fg.inference_mode, fg.enable_grad):
        with mode():
            assert compiled(plain(3)).tolist() == f(plain(3)).tolist()


def test_inference_mode_inside_of_the_function():
    def f(x):
        with fg.inference_mode():
            return x * 2

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fg.compile(f)(plain(3)).is_inference() == f(plain(3)).is_inference()


def test_the_state_of_a_captured_function_inside_of_another():
    scale = [2.0]
    inner = fg.compile(lambda x: x * scale[0])
    compiled = fg.compile(lambda x: inner(x) + 1, fullgraph=True)
    for scale[0] in (2.0, 5.0):
        assert compiled(plain(3)).tolist() == (plain(3) * scale[0] + 1).tolist()


def test_a_function_that_mentions_the_dictionary_of_an_object():
    holder = Holder()
    holder.k = 2
    compiled = fg.compile(lambda x: x * holder.__dict__["k"], fullgraph=True)
    for holder.k in (2, 3):
        assert compiled(plain(3)).tolist() == (plain(3) * holder.k).tolist()


def test_an_argument_and_what_a_closure_holds_are_told_apart():
    held = plain(3)
    compiled = fg.compile(lambda x: x * held, fullgraph=True)
    for x in (held, plain(3, start=2.0), held):
        assert compiled(x).tolist() == (x * held).tolist()
    holder = Holder()
    holder.one = holder.two = plain(3)
    compiled = fg.compile(lambda x: x * holder.one + holder.two, fullgraph=True)
    for holder.two in (holder.one, plain(3, start=5.0)):
        assert compiled(plain(3)).tolist() == (plain(3) * holder.one + holder.two).tolist()


@pytest.mark.parametrize("function", [
    lambda x, o: x * o.w.shape[0], lambda x, o: x * len(o.w), lambda x, o: fg.zeros_like(o.w),
    lambda x, o: x.to(o.w.dtype), lambda x, o: x * 2 if o.w.requires_grad else x * 3,
    lambda x, o: x * 2 if o.w.is_contiguous() else x * 3])
def test_sizes_of_a_reached_tensor_are_read_again(function):
    holder = Holder()
    holder.w = plain(3)
    compiled = fg.compile(lambda x: function(x, holder), fullgraph=True)
    compiled(plain(2))
    for holder.w in (leaf(5, dtype=fg.float32), plain(3, 2).t()):
        assert values(compiled(plain(2))) == values(function(plain(2), holder))


def test_memory_that_reached_tensors_share_is_guarded():
    holder = Holder()

    def f(x):
        with fg.no_grad():
            holder.one.add_(1)
        return x * holder.two

    for make in (lambda: plain(3), lambda: holder.one, lambda: holder.one.detach()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled, seen = fg.compile(f), []
            for function in (f, compiled, compiled):
                holder.one = plain(3)
                holder.two = plain(3)
                if function is not f:
                    compiled(plain(3))
                holder.one = plain(3)
                holder.two = make()
                seen.append(function(plain(3)).tolist())
        assert seen[1] == seen[0] and seen[2] == seen[0]


def test_tensors_are_not_kept_alive():
    holder = Holder()
    holder.weight = plain(3)
    compiled = fg.compile(lambda x: x * holder.weight, fullgraph=True)
    x = plain(3)
    gone = [weakref.ref(x), weakref.ref(holder.weight)]
    compiled(x)
    del x
    holder.weight = plain(3)
    compiled(plain(3))
    gc.collect()
    assert all(ref() is None for ref in gone)


def test_calls_and_captures_do_not_leak(stays_level):
    def f(x, k):
        y = x * k
        y[0].add_(1)
        return (y.sin() * x).sum(), y

    compiled = fg.compile(f, fullgraph=True)

    def once():
        x = leaf(4, 4)
        compiled(x, 0.5)[0].backward()
        fresh = fg.compile(f, fullgraph=True)
        fg.autograd.grad(fresh(x, 0.5)[0], x, create_graph=True)[0].sum().backward()

    stays_level(once)


def test_results_with_infinities_and_nans():
    def f(x, k):
        return x / 0, x * k, (x - x) / 0, x.log()

    for k in (math.inf, math.nan, -math.inf):
        agrees(f, [plain(3) - 0.3, k])


def test_half_precision_and_empty_tensors():
    for dtype in (fg.float16, fg.bfloat16, fg.float32):
        agrees(lambda x: (x * 2).sin().sum(), [plain(3, dtype=dtype)])
    agrees(lambda x: (x * 2, x.sum(), x.t(), x.mean(0)), [fg.ones(0, 3)], [fg.ones(3, 0)])


FACTOR = 1.0


class Scaled(fg.autograd.Function):
    """Reads a global in its backward, and another in its forward."""

    @staticmethod
    def forward(ctx, x):
        return x * OFFSET

    @staticmethod
    def backward(ctx, g):
        return helped(g)


def helped(g):
    return g * FACTOR


def hooked(x):
    y = x * 2
    y.register_hook(lambda g: g * FACTOR)
    return y


@pytest.mark.parametrize("function", [Scaled.apply, hooked, lambda x: Scaled.apply(x) + hooked(x)])
@pytest.mark.parametrize("numbers", [(2.0, 3.0, 4.0, 5.0, 2.0), (2, 3, 4, 2)])
def test_what_a_custom_function_and_a_hook_read_is_read_again(function, numbers):
    # A float that changes becomes an input of the forward; a backward that reads it is traced
    # later, when it is a number.
    global FACTOR, OFFSET
    compiled = fg.compile(function, fullgraph=True)
    for FACTOR in numbers:
        for OFFSET in (1.5, 2.5):
            seen = []
            for run in (function, compiled):
                x = leaf(3)
                result = run(x)
                result.sum().backward()
                seen.append((result.tolist(), x.grad.tolist()))
            assert seen[0] == seen[1]


def test_a_replaced_backward_is_another_one():
    class Replaced(fg.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: g * 2)

    compiled = fg.compile(lambda x: Replaced.apply(x), fullgraph=True)
    for factor in (2, 3):
        Replaced.backward = staticmethod(lambda ctx, g, factor=factor: g * factor)
        x = leaf(3)
        compiled(x).sum().backward()
        assert x.grad.tolist() == [factor] * 3


class Key:
    """Is hashed by what it is, and has something to read."""

    def __init__(self, factor):
        self.factor = factor


@pytest.mark.parametrize("key", [int, 1.5, (1, 2.5), Key(2), -0.0, math.nan, "name", None, b"b"])
def test_dictionaries_and_sets_with_any_keys(key):
    table, members = {key: 2}, {key}
    f = fg.compile(lambda x: x * table[key] + len(members), fullgraph=True)
    for expected in (3.0, 3.0):
        assert f(plain(1)).item() == plain(1).item() * 2 + expected - 2
    table[key] = 5
    assert f(plain(1)).item() == plain(1).item() * 5 + 1
    members.add("more")
    assert f(plain(1)).item() == plain(1).item() * 5 + 2


def test_what_keys_of_a_dictionary_have():
    key = Key(2)
    table = {key: "unread"}
    f = fg.compile(lambda x: x * next(iter(table)).factor, fullgraph=True)
    assert f(fg.ones(1)).item() == 2
    key.factor = 3
    assert f(fg.ones(1)).item() == 3
    table[Key(4)] = table.pop(key)
    assert f(fg.ones(1)).item() == 4


def test_keys_that_differ_though_they_are_equal():
    table = {1: "a"}
    f = fg.compile(lambda x: x * (2 if type(next(iter(table))) is int else 3), fullgraph=True)
    assert f(fg.ones(1)).item() == 2
    table.clear()
    table[1.0] = "a"
    assert f(fg.ones(1)).item() == 3


def test_keys_that_are_put_back():
    table = {("a", 1): 2}
    f = fg.compile(lambda x: x * table["a", 1], fullgraph=True)
    before = fg.compiler.counters.captured
    for _ in range(3):
        assert f(fg.ones(1)).item() == 2
        table[tuple(["a", 1])] = table.pop(("a", 1))
    assert fg.compiler.counters.captured == before + 1


def test_tensors_as_keys_are_refused_and_run_eagerly():
    weight = plain(3)
    table = {weight: 2.0}

    def f(x):
        return sum((x * t).sum() * factor for t, factor in table.items())

    agrees(f, [plain(3)], [leaf(3)], refused="keys are tensors")
    with pytest.raises(RuntimeError, match="keys are tensors; use a list of pairs"):
        fg.compile(f, fullgraph=True)(plain(3))

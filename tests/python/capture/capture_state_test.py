"""Values that a captured function reads besides tensors are never stale."""

import math
import warnings

import foregrad as fg
import pytest
from capture_compare import alike, elements, leaf, plain, versions_of
from foregrad.compiler import CaptureError, counters

SCALE = 2.0
WEIGHT = fg.ones(3, dtype=fg.float64)


class Holder:
    """Attributes."""


def follows(function, change, *, times=2):
    """Eager and captured agree before and after each change."""
    compiled = fg.compile(function, fullgraph=True)
    for i in range(times + 1):
        x = plain(3)
        assert str(compiled(x).tolist()) == str(function(x).tolist())
        change(i)
    return compiled


def test_floats_are_inputs_of_the_graph():
    compiled = fg.compile(lambda x, k: x * k, fullgraph=True)
    for k in (0.5, 1.5, -2.0, math.inf, 0.0):
        assert compiled(plain(3), k).tolist() == (plain(3) * k).tolist()
    assert versions_of(compiled) == 1


def test_arithmetic_of_floats_is_that_of_python():
    def f(x, k):
        return x * (1 - k) + -k + abs(k) / 3 + (k * 2 + 1) - (k + k)

    compiled = fg.compile(f, fullgraph=True)
    for k in (0.3, 0.7, -1.1):
        assert compiled(plain(3), k).tolist() == f(plain(3), k).tolist()
    assert versions_of(compiled) == 1


def test_floats_promote_as_numbers():
    def f(x, y, k):
        return x * k, y * k, (y > 0) * k

    for found, expected in zip(fg.compile(f, fullgraph=True)(
            plain(3, dtype=fg.float32), fg.ones(3, dtype=fg.int64), 0.5),
            f(plain(3, dtype=fg.float32), fg.ones(3, dtype=fg.int64), 0.5)):
        assert found.dtype == expected.dtype and found.tolist() == expected.tolist()


@pytest.mark.parametrize("function", [
    lambda x, k: x * k if k > 0 else x - k, lambda x, k: x * math.sqrt(abs(k)), lambda x, k: (x, k),
    lambda x, k: x.clone().fill_(k), lambda x, k: x * int(k), lambda x, k: (x * k, f"{k}")])
def test_floats_whose_value_is_asked_for_are_constants_then(function):
    compiled = fg.compile(function, fullgraph=True)
    for k in (2.0, -2.0, 3.0, 2.0):
        assert repr(compiled(plain(3), k)) == repr(function(plain(3), k))


def test_zeros_of_both_signs_are_different_constants():
    def f(x, k):
        return x / k if k == k else x

    compiled = fg.compile(f, fullgraph=True)
    for k in (0.0, -0.0):
        assert compiled(plain(3), k).tolist() == f(plain(3), k).tolist()


def test_the_power_of_a_float_is_that_of_eager():
    def f(x, k):
        return x ** k, k / x

    compiled = fg.compile(f, fullgraph=True)
    for k in (2.0, 3.0, 0.5, 0.3):
        x = fg.tensor([1.3, 2.7, 0.1], dtype=fg.float64)
        for one, two in zip(compiled(x, k), f(x, k)):
            assert one.tolist() == two.tolist()


@pytest.mark.parametrize("values", [(1, 2, 3, 1), (True, False), ("a", "b"), (None, 1),
                                    (1, True, 1.0), (b"a", b"b"), (fg.float32, fg.float64)])
def test_other_arguments_are_constants_guarded_by_value(values):
    def f(x, k):
        return {1: x, "a": x * 2, None: x * 3, False: x * 4, b"a": x * 5}.get(k, x * 6) * (
            2 if k is True else 1)

    compiled = fg.compile(f, fullgraph=True)
    for k in values:
        assert compiled(plain(3), k).tolist() == f(plain(3), k).tolist()


def test_globals_are_read_again(monkeypatch):
    def change(i):
        monkeypatch.setitem(globals(), "SCALE", float(i))
        monkeypatch.setitem(globals(), "WEIGHT", fg.ones(3, dtype=fg.float64) * i)

    follows(lambda x: x * SCALE + WEIGHT, change)


def test_closures_are_read_again():
    scale, weight, parts = 1, plain(3), [1, {"a": 2.0}]

    def change(i):
        nonlocal scale, weight
        scale, weight = i, plain(3, start=float(i))
        parts[1]["a"] = i * 0.5

    follows(lambda x: x * scale + weight * parts[1]["a"], change)


def test_tensors_of_closures_are_lifted_anew():
    weight = plain(3)

    def change(i):
        nonlocal weight
        weight = plain(3, start=float(i))

    assert versions_of(follows(lambda x: x * weight, change, times=5)) == 1


def test_attributes_are_read_again():
    holder = Holder()
    holder.scale, holder.weight, holder.inner = 1.0, plain(3), Holder()
    holder.inner.name = "a"

    def change(i):
        holder.scale, holder.weight = float(i), plain(3, start=float(i))
        holder.inner.name = "ab"[i % 2]

    follows(lambda x: x * holder.scale + holder.weight * (holder.inner.name == "a"), change)


def test_training_is_read_again():
    class Layer:
        training = True

        def forward(self, x):
            return x * 2 if self.training else x

        __call__ = forward

    layer = Layer()
    compiled = fg.compile(layer, fullgraph=True)
    for training in (True, False, True):
        layer.training = training
        assert compiled(plain(3)).tolist() == layer(plain(3)).tolist()
    assert compiled.training is True
    compiled.training = False
    assert layer.training is False


def test_methods_and_defaults_are_read_again():
    class Layer:
        scale = 2

        def run(self, x):
            return x * self.scale

    layer = Layer()
    compiled = fg.compile(layer.run, fullgraph=True)
    assert compiled(plain(3)).tolist() == (plain(3) * 2).tolist()
    Layer.scale = 5
    assert compiled(plain(3)).tolist() == (plain(3) * 5).tolist()
    layer.scale = 7
    assert compiled(plain(3)).tolist() == (plain(3) * 7).tolist()


def test_a_number_that_becomes_nan_or_changes_its_sign_is_seen():
    state = Holder()
    state.values = [1.0, math.nan, 0.0, -0.0]
    state.k = state.values[0]

    def change(i):
        state.k = state.values[i + 1] if i < 3 else 0.0

    follows(lambda x: x / state.k, change, times=3)


@pytest.mark.parametrize("state,change", [
    ({1, 2}, lambda s: s.add(3)), (bytearray(b"ab"), lambda s: s.extend(b"c")),
    ([1], lambda s: s.append(2)), ({"a": 1}, lambda s: s.update(b=2))])
def test_contents_of_containers_are_read_again(state, change):
    compiled = follows(lambda x: x * len(state), lambda i: change(state) if i == 0 else None)
    assert compiled(plain(3)).tolist() == (plain(3) * len(state)).tolist()


def test_the_order_of_a_dictionary_is_read_again():
    state = {"a": 2.0, "b": 3.0}

    def f(x):
        for value in state.values():
            x = x * 2 + value
        return x

    follows(f, lambda i: state.update(a=state.pop("a")))


def test_tensors_kept_on_objects_are_real(run_program):
    run_program("""
        import warnings
        import foregrad as fg
        warnings.simplefilter("ignore")
        class Holder: pass
        holder, items = Holder(), []
        holder.state = fg.zeros(1)
        def f(x):
            holder.last = x * 2
            holder.state = holder.state * 0.5 + x
            items.append(x * 3)
            return holder.last + 1
        compiled = fg.compile(f)
        for start in (1.0, 5.0):
            compiled(fg.ones(1) * start)
            assert holder.last.tolist() == [2 * start], holder.last
            assert items[-1].tolist() == [3 * start]
        assert holder.state.tolist() == [5.5]
    """)


def test_containers_that_are_arguments_are_written():
    def f(items, table):
        items.append(items[0] * 2)
        table["y"] = items[0] * 3
        return items

    items, table = [plain(3)], {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = fg.compile(f)(items, table)
    assert result is items and len(items) == 2 and items[1].tolist() == (plain(3) * 2).tolist()
    assert table["y"].tolist() == (plain(3) * 3).tolist()


def test_after_eight_versions_a_warning_names_the_guard_and_calls_are_eager():
    compiled = fg.compile(lambda x: x * x.shape[0])
    for size in range(1, 9):
        assert compiled(plain(size)).tolist() == (plain(size) * size).tolist()
    before = counters.eager
    with pytest.warns(UserWarning, match=r"8 times.*sizes \[9\]"):
        compiled(plain(9))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (9, 10, 3):
            assert compiled(plain(size)).tolist() == (plain(size) * size).tolist()
    assert counters.eager >= before + 3


def test_after_eight_versions_by_objects_or_floats():
    def with_object(x, holder):
        return x * holder.k

    compiled = fg.compile(with_object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(12):
            holder = Holder()
            holder.k = i
            assert compiled(plain(3), holder).tolist() == (plain(3) * i).tolist()
        asked = fg.compile(lambda x, k: x.clone().fill_(k))
        for i in range(12):
            assert asked(plain(1), float(i)).tolist() == [float(i)]


def test_a_refusal_warns_once_counts_and_gives_the_same_results():
    def f(x):
        return x * 2 if x.sum() > 0 else x * 3

    compiled = fg.compile(f)
    before = counters.eager
    with pytest.warns(UserWarning, match="runs eagerly") as caught:
        assert compiled(plain(3)).tolist() == f(plain(3)).tolist()
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(plain(3, start=-9.0)).tolist() == f(plain(3, start=-9.0)).tolist()
    assert counters.eager == before + 2
    assert any("runs eagerly" in reason for reason in counters.reasons)


def test_fullgraph_raises_instead():
    with pytest.raises(RuntimeError, match="value of a tensor"):
        fg.compile(lambda x: x * x.sum().item(), fullgraph=True)(plain(3))
    compiled = fg.compile(lambda x: x * x.shape[0], fullgraph=True)
    for size in range(1, 9):
        compiled(plain(size))
    with pytest.raises(CaptureError, match="8 times"):
        compiled(plain(9))


@pytest.mark.parametrize("function", [
    lambda x: x.nonzero(),
    lambda x: fg.masked_select(x, x > 0.3),
    lambda x: x[x > 0.3]])
def test_results_whose_size_depends_on_data_run_eagerly(function):
    with pytest.raises(RuntimeError):
        fg.compile(function, fullgraph=True)(plain(3))
    with pytest.warns(UserWarning, match="runs eagerly"):
        assert fg.compile(function)(plain(3)).tolist() == function(plain(3)).tolist()


@pytest.mark.parametrize("ask", ["x.tolist()", "x.numpy()", "float(x[0])", "bool(x[0])",
                                 "x.item()", "bytes(x.numpy())"])
def test_values_are_never_read_while_a_function_is_captured(ask, run_program):
    run_program(f"""
        import foregrad as fg
        def f(x):
            {ask}
            return x * 2
        try:
            fg.compile(f, fullgraph=True)(fg.ones(1))
        except RuntimeError as error:
            assert "captur" in str(error), error
        else:
            raise SystemExit("read")
    """)


def test_an_error_of_the_function_is_that_of_eager():
    def f(x, y):
        return x @ y

    for function in (f, fg.compile(f), fg.compile(f, fullgraph=True)):
        with pytest.raises(RuntimeError, match="inner sizes"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(plain(2, 3), plain(2, 3))

    def g(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fg.compile(g, fullgraph=True)(plain(3))


def test_compile_takes_functions_methods_and_objects_bare_or_with_arguments():
    @fg.compile
    def bare(x):
        """Its documentation."""
        return x * 2

    @fg.compile(fullgraph=True)
    def with_arguments(x):
        return x * 2

    assert bare.__name__ == "bare" and bare.__doc__ == "Its documentation."
    for function in (bare, with_arguments, fg.compile(fg.sin), fg.compile(plain(3).mul)):
        assert isinstance(function(plain(3)), fg.Tensor)
    with pytest.raises(TypeError, match="expected a function"):
        fg.compile(3)
    assert elements(fg.compile(bare, disable=True)(plain(3))).shape == (3,)


def test_guards_of_tensors():
    def f(x):
        return x * 2

    compiled = fg.compile(f, fullgraph=True)
    kinds = [plain(3), leaf(3), plain(4), plain(3, dtype=fg.float32), plain(6)[::2], leaf(3) * 1]
    for tensor in kinds * 2:
        found = compiled(tensor)
        assert found.requires_grad == tensor.requires_grad and found.dtype == tensor.dtype
        assert found.tolist() == f(tensor).tolist()
    assert versions_of(compiled) == len(kinds)
    alike(f, lambda: [plain(3)])


READINGS = {
    "item": lambda t: t.item(),
    "float": lambda t: float(t),
    "bool": lambda t: 2.0 if t > 1 else 0.5,
    "tolist": lambda t: t.tolist(),
    "numpy": lambda t: float(t.numpy()),
    "text": lambda t: float(str(t)[7:9]),
    "pickle": lambda t: len(__import__("pickle").dumps(t)),
    "one_hot": lambda t: fg.nn.functional.one_hot(t.long()).numel(),
    "repeat_interleave": lambda t: fg.ones(1).repeat_interleave(t.long()).numel(),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", READINGS)
def test_values_of_tensors_that_a_function_reached_are_never_stale(name):
    scale = fg.tensor(2.0)

    def f(x):
        return x * READINGS[name](scale)

    with pytest.raises((RuntimeError, ValueError)):  # the text has no numbers in it
        fg.compile(f, fullgraph=True)(fg.ones(2))
    compiled = fg.compile(f)
    for value in (2.0, 1.0, 3.0):
        scale = fg.tensor(value)
        assert compiled(fg.ones(2)).tolist() == f(fg.ones(2)).tolist()
        scale.fill_(4.0)
        assert compiled(fg.ones(2)).tolist() == f(fg.ones(2)).tolist()


def test_what_depends_on_values_of_reached_tensors_is_checked_at_every_call():
    divisor = fg.tensor([2, 1])
    compiled = fg.compile(lambda x: x // divisor, fullgraph=True)
    assert compiled(fg.tensor([4, 4])).tolist() == [2, 4]
    divisor = fg.tensor([2, 0])
    with pytest.raises(RuntimeError, match="division by zero"):
        compiled(fg.tensor([4, 4]))


def test_a_tensor_that_was_written_inside_is_not_read_as_it_was():
    def f(x):
        divisor = fg.tensor([1, 0])
        divisor.add_(1)
        return x // divisor

    assert fg.compile(f, fullgraph=True)(fg.tensor([4, 4])).tolist() == [2, 4]


def test_new_sizes_of_a_tensor_that_is_also_reached_are_refused():
    x = fg.ones(2)

    def f(t):
        t.unsqueeze_(0)
        return x * 2

    with pytest.raises(RuntimeError, match="changes the sizes of a tensor that it also reaches"):
        fg.compile(f, fullgraph=True)(x)

"""The callable that compile() makes: finding the version of a call, and being a function."""

import collections
import copy
import gc
import inspect
import pickle
import threading
import weakref

import foregrad as fg
import pytest
from capture_compare import leaf, plain, versions_of
from foregrad.compiler import counters

Pair = collections.namedtuple("Pair", "x k")


@fg.compile
def doubled(x, times=2):
    """Its documentation."""
    return x * times


class Holder:
    """Attributes."""


def agree(compiled, function, *args, **kwargs):
    found, expected = compiled(*args, **kwargs), function(*args, **kwargs)
    assert found.tolist() == expected.tolist()


def test_it_looks_like_the_function():
    assert doubled.__name__ == "doubled" and doubled.__doc__ == "Its documentation."
    assert doubled.__module__ == __name__ and "doubled" in repr(doubled)
    assert list(inspect.signature(doubled).parameters) == ["x", "times"]
    doubled.mine = 3
    assert doubled.mine == 3 and weakref.ref(doubled)() is doubled
    assert copy.copy(doubled) is doubled and copy.deepcopy([doubled])[0] is doubled
    assert pickle.loads(pickle.dumps(doubled)) is doubled


def test_it_is_a_method_in_a_class():
    class Layer:
        def __init__(self, k):
            self.k = k

        @fg.compile(fullgraph=True)
        def scaled(self, x):
            return x * self.k

    first, second = Layer(2), Layer(5)
    for _ in range(2):
        assert first.scaled(plain(3)).tolist() == (plain(3) * 2).tolist()
        assert Layer.scaled(second, plain(3)).tolist() == (plain(3) * 5).tolist()
    assert versions_of(Layer.scaled) == 2


@pytest.mark.parametrize("arguments,versions", [
    ([((1, 2), {}), ((1.0, 2.0), {}), ((1, 2), {})], 2),
    ([((), {"a": 1, "b": 2}), ((), {"b": 2, "a": 1}), ((1,), {"b": 2})], 3),
    ([((slice(1, 3), 0), {}), ((slice(1, True), 0), {}), ((slice(1, 3), 0), {})], 2),
    ([((slice(0.5, 1), 0), {}), ((slice(0.5, 2), 0), {}), ((slice(0.5, 1), 0), {})], 2),
    ([((fg.Size([2]), 0), {}), ((fg.Size([3]), 0), {}), (((2,), 0), {})], 3),
    ([((fg.float32, 0), {}), ((fg.float64, 0), {}), ((fg.float32, 0), {})], 2),
    ([(({"p": 1, "q": 2}, 0), {}), (({"q": 2, "p": 1}, 0), {})], 2),
    ([((Pair(1, 2), 0), {}), (((1, 2), 0), {}), ((Pair(1, 2), 0), {})], 2),
    ([(([1, (2, "x")], 0), {}), (([1, [2, "x"]], 0), {}), (([1, (2, "x")], 0), {})], 2)])
def test_structures_and_constants_are_told_apart(arguments, versions):
    def f(x, a=0, b=0):
        return x * len(repr(a)) + len(repr(b))

    compiled = fg.compile(f, fullgraph=True)
    for args, kwargs in arguments:
        agree(compiled, f, plain(3), *args, **kwargs)
    assert versions_of(compiled) == versions


def test_an_ordered_dictionary_is_read_in_its_order():
    def f(table):
        return sum(value * (i + 1) for i, value in enumerate(table.values()))

    compiled = fg.compile(f, fullgraph=True)
    table = collections.OrderedDict(a=plain(3), b=plain(3, start=4.0))
    for key in ("a", "b", "a"):
        agree(compiled, f, table)
        table.move_to_end(key)
    assert versions_of(compiled) == 2


def test_a_list_that_contains_itself_is_an_error():
    items = [plain(3)]
    items.append(items)
    with pytest.raises(RecursionError):
        fg.compile(lambda parts: parts[0] * 2)(items)


def test_a_tensor_that_is_read_beside_a_float_that_changes_makes_no_new_version():
    holder = Holder()
    holder.weight, holder.rate = plain(3), 0.5

    def f(x):
        return x * holder.rate + holder.weight

    compiled = fg.compile(f, fullgraph=True)
    for i in range(12):
        holder.rate, holder.weight = 0.5 / (i + 1), plain(3, start=float(i))
        agree(compiled, f, plain(3))
    assert versions_of(compiled) == 2


def test_calls_that_alternate_between_versions_capture_nothing():
    holder = Holder()
    holder.mode = "a"

    def f(x):
        return x * 2 if holder.mode == "a" else x * 3

    compiled = fg.compile(f, fullgraph=True)
    for _ in range(4):
        for holder.mode in "ab":
            for size in (3, 4):
                agree(compiled, f, plain(size))
    assert versions_of(compiled) == 4


def test_calls_are_counted_and_a_call_inside_of_a_capture_is_not():
    inner = fg.compile(lambda x: x * 2)
    outer = fg.compile(lambda x: inner(x) + 1, fullgraph=True)
    before = counters.calls
    for _ in range(3):
        assert outer(plain(3)).tolist() == (plain(3) * 2 + 1).tolist()
    assert counters.calls == before + 3 and versions_of(inner) == 0


def test_versions_of_an_object_go_with_it():
    def f(x, holder):
        return x * holder.k

    compiled = fg.compile(f, fullgraph=True)
    for k in range(20):
        holder = Holder()
        holder.k = k
        agree(compiled, f, plain(3), holder)
        del holder
    assert versions_of(compiled) == 0


def test_a_compiled_function_in_a_cycle_is_collected():
    holder = Holder()
    holder.call = fg.compile(lambda x: x * holder.k)
    holder.k = 3
    assert holder.call(plain(3)).tolist() == (plain(3) * 3).tolist()
    gone = weakref.ref(holder)
    del holder
    gc.collect()
    assert gone() is None


def test_results_come_in_their_structure():
    def f(x):
        return {"a": x * 2, "b": [x + 1, ("text", None, 3)], "pair": Pair(x, 0.5)}

    compiled = fg.compile(f, fullgraph=True)
    for _ in range(2):
        x = plain(3)
        found = compiled(x)
        assert list(found) == ["a", "b", "pair"] and found["b"][1] == ("text", None, 3)
        assert found["pair"] == Pair(x, 0.5) and found["pair"].x is x
        found["b"].append(4)  # lists are those of this call


def test_threads_call_one_function_and_its_backward():
    def f(x, k):
        return (x * k).sin().sum()

    compiled, errors = fg.compile(f, fullgraph=True), []

    def work(number):
        try:
            for i in range(60):
                x = leaf(2 + (number + i) % 3)
                expected = leaf(2 + (number + i) % 3)
                compiled(x, 0.5 + i).backward()
                f(expected, 0.5 + i).backward()
                assert x.grad.tolist() == expected.grad.tolist()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and versions_of(compiled) == 3


def test_the_flattened_arguments_of_a_new_kind_of_call_are_handed_on():
    compiled = fg.compile(lambda x, pair, *, by: x * pair.k + by["a"][0], fullgraph=True)
    owner, calls = compiled.compiled, []
    miss = owner.miss
    owner.miss = lambda *call: calls.append(call) or miss(*call)
    x, holder = fg.ones(2), Holder()
    for _ in range(2):
        assert compiled(x, Pair(holder, 2.0), by={"a": [x, 3, 0.5]}).tolist() == [3, 3]
    (given, args, kwargs), = calls
    assert args == (x, (holder, 2.0)) and kwargs == {"by": {"a": [x, 3, 0.5]}}
    assert given.tensors[0] is x and given.places == [0, 0] and given.floats == [2.0, 0.5]
    assert given.objects == [holder] and versions_of(compiled) == 1
    assert given.names(["x", "pair"]) == (["x"], ["pair.k", "by['a'][2]"], ["pair.x"])


def test_flattened_arguments_are_equal_if_every_leaf_is_the_same():
    x, y, holder = fg.ones(2), fg.ones(2), Holder()

    def flat(*args):
        return fg._C.Arguments(*args)

    same = flat([x, 1, 2.0, holder], {"k": None})
    assert same.equals(flat([x, 1, 2.0, holder], {"k": None}))
    for other in ([[y, 1, 2.0, holder], {"k": None}], [[x, True, 2.0, holder], {"k": None}],
                  [[x, 1, -2.0, holder], {"k": None}], [[x, 1, 2.0, Holder()], {"k": None}],
                  [[x, 1, 2.0, holder], {"j": None}], [(x, 1, 2.0, holder), {"k": None}],
                  [[x, 1, 2.0, holder, x], {"k": None}]):
        assert not same.equals(flat(*other))
    assert not flat(0.0).equals(flat(-0.0)) and flat(float("nan")).equals(flat(float("nan")))
    assert flat(x, y, x).equals(flat(x, y, x)) and not flat(x, y, x).equals(flat(x, y, y))

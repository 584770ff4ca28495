"""assert_close and make_tensor, trees, and DLPack under PyTorch's names."""

import collections
import dataclasses

import foregrad as fg
import foregrad.utils._pytree as pytree
import pytest
from foregrad.testing import assert_allclose, assert_close, make_tensor

x = fg.ones(2)
CLOSE = """Tensor-likes are not close!

Mismatched elements: 2 / 2 (100.0%)
Greatest absolute difference: 1.0 at index (0,) (up to 1e-05 allowed)
Greatest relative difference: 0.5 at index (0,) (up to 1.3e-06 allowed)"""


@pytest.mark.parametrize("actual, expected", [
    (x, x + 1e-7), (1, 1), (None, None), ([x, {"a": 1.0}], [x, {"a": 1.0}]), ([x], (x,)),
    (x.half(), x.half() + 0.0005), (fg.zeros(0), fg.zeros(0)), (float("inf"), float("inf")),
    (fg.nn.Parameter(x), x)])
def test_what_is_close_passes(actual, expected):
    assert_close(actual, expected)


@pytest.mark.parametrize("actual, expected, message", [
    (x, x + 1, CLOSE),
    ({"a": x}, {"a": x + 1}, CLOSE + "\n\nThe failure occurred for item ['a']"),
    (x.long(), x.long() + 1, """Tensor-likes are not equal!

Mismatched elements: 2 / 2 (100.0%)
Greatest absolute difference: 1 at index (0,)
Greatest relative difference: 0.5 at index (0,)"""),
    (fg.tensor(1.0), fg.tensor(2.0), """Scalars are not close!

Expected 2.0 but got 1.0.
Absolute difference: 1.0 (up to 1e-05 allowed)
Relative difference: 0.5 (up to 1.3e-06 allowed)"""),
    (1, 2, """Scalars are not equal!

Expected 2 but got 1.
Absolute difference: 1
Relative difference: 0.5"""),
    (1, 1.0, "The (d)types do not match: <class 'int'> != <class 'float'>."),
    (True, False, "Booleans mismatch: True is not False"),
    (None, 1, "None mismatch: None is not 1"),
    ([1], [1, 2], "The length of the sequences mismatch: 1 != 2"),
    ({"a": 1}, {"b": 1}, "The keys of the mappings do not match:\nMissing keys in the actual "
     "mapping: ['b']\nAdditional keys in the actual mapping: ['a']"),
    (x, x.double(), "The values for attribute 'dtype' do not match: foregrad.float32 != "
     "foregrad.float64."),
    (x, fg.ones(3), "The values for attribute 'shape' do not match: foregrad.Size([2]) != "
     "foregrad.Size([3])."),
])
def test_a_difference_is_described_as_pytorch_does(actual, expected, message):
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected)
    assert str(caught.value) == message


def test_options_of_the_comparison():
    assert_close(x, x.double(), check_dtype=False)
    assert_close(x, x + 1, rtol=0, atol=1)
    assert_close(fg.tensor([float("nan")]), fg.tensor([float("nan")]), equal_nan=True)
    for bad in (lambda: assert_close(x, x + 1, msg="boo"),
                lambda: assert_close(x, x + 1, msg=lambda text: "boo" + text)):
        with pytest.raises(AssertionError, match="^boo"):
            bad()
    with pytest.raises(AssertionError, match="stride"):
        assert_close(fg.ones(2, 3).t(), fg.ones(3, 2), check_stride=True)
    with pytest.raises(AssertionError):
        assert_close(float("nan"), float("nan"))
    with pytest.raises(ValueError, match="got no atol"):
        assert_close(x, x, rtol=1)
    for strange in (("a", "a"), (x, [1, 1]), (object(), object())):
        with pytest.raises(TypeError, match="No comparison pair"):
            assert_close(*strange)
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close(fg.nn.Parameter(x), x, allow_subclasses=False)
    with pytest.warns(FutureWarning):
        assert_allclose(x, [1.0, 1.0])
    numpy = pytest.importorskip("numpy")
    assert_close(numpy.ones(2), numpy.ones(2))
    with pytest.raises(AssertionError, match="up to 1e-07"):
        assert_close(numpy.ones(2), numpy.zeros(2))


def test_the_greatest_difference_is_found_where_it_is():
    actual, expected = fg.arange(6.0).reshape(2, 3), fg.arange(6.0).reshape(2, 3)
    expected[1, 2] = 9
    with pytest.raises(AssertionError, match=r"1 / 6 \(16.7%\)\n.*4.0 at index \(1, 2\)"):
        assert_close(actual, expected)


def test_tensors_for_tests_have_their_range_and_layout():
    assert make_tensor((2, 3), dtype=fg.float64, device="cpu").shape == (2, 3)
    many = make_tensor(2000, dtype=fg.int64, device="cpu")
    assert many.min() == -9 and many.max() == 9
    assert make_tensor(2000, dtype=fg.uint8, device="cpu").max() == 9
    assert set(make_tensor(50, dtype=fg.bool, device="cpu").tolist()) == {False, True}
    assert make_tensor(5, dtype=fg.int32, device="cpu", low=3, high=4).tolist() == [3] * 5
    wide = make_tensor(2, 4, dtype=fg.float32, device="cpu", noncontiguous=True)
    assert wide.stride() == (8, 2)
    assert make_tensor(3, dtype=fg.float32, device="cpu", requires_grad=True).requires_grad
    assert (make_tensor(500, dtype=fg.int8, device="cpu", exclude_zero=True) != 0).all()
    assert make_tensor(9, dtype=fg.float32, device="cpu", low=float("-inf")).isfinite().all()


@pytest.mark.parametrize("options, kind", [
    ({"dtype": fg.float32, "low": 3, "high": 2}, ValueError), ({"dtype": 3}, TypeError),
    ({"dtype": fg.int64, "requires_grad": True}, ValueError),
    ({"dtype": fg.float32, "low": float("nan")}, ValueError),
    ({"dtype": fg.float32, "noncontiguous": True, "memory_format": fg.contiguous_format},
     ValueError)])
def test_wrong_tensors_for_tests_are_refused(options, kind):
    with pytest.raises(kind):
        make_tensor(4, device="cpu", **options)


# ---- trees

Point = collections.namedtuple("Point", "x y")
TREE = {"b": [1, (2, None)], "a": Point(3, collections.deque([4], maxlen=2))}


def test_a_tree_is_taken_apart_and_put_together():
    leaves, spec = pytree.tree_flatten(TREE)
    assert leaves == [1, 2, None, 3, 4] and spec.num_leaves == 5
    again = pytree.tree_unflatten(leaves, spec)
    assert again == TREE and type(again["a"]) is Point and again["a"].y.maxlen == 2
    assert pytree.tree_structure(again) == spec and hash(spec) == hash(pytree.tree_structure(again))
    assert repr(pytree.tree_structure({"a": [1, (2, None)]})) == (
        "TreeSpec(dict, ['a'], [TreeSpec(list, None, [*,\n    TreeSpec(tuple, None, [*,\n"
        "      *])])])")
    assert pytree.treespec_pprint(pytree.tree_structure({"a": [1, (2,)]})) == "{'a': [*, (*,)]}"
    largest = fg.ones(2, 2).max(0)
    mapped = pytree.tree_map(lambda t: t * 2, largest)
    assert type(mapped) is type(largest) and mapped.values.tolist() == [2, 2]


def test_functions_over_leaves():
    assert pytree.tree_map(lambda a, b: a + b, [1, (2,)], [10, (20,)]) == [11, (22,)]
    assert pytree.tree_map(lambda a, b: (a, b), [1, 2], [3, [4]]) == [(1, 3), (2, [4])]
    assert pytree.tree_map_only(int, lambda n: n + 1, [1, "a"]) == [2, "a"]
    assert pytree.tree_leaves([1, [2]], is_leaf=lambda t: t == [2]) == [1, [2]]
    assert pytree.tree_all(bool, [1, 2]) and pytree.tree_any(bool, [0, 2])
    assert pytree.tree_all_only(int, lambda n: n > 0, [1, "a"])
    seen = []
    assert pytree.tree_map_(seen.append, [1, (2,)]) == [1, (2,)] and seen == [1, 2]
    assert pytree._broadcast_to_and_flatten(3, pytree.tree_structure([1, [2, 3]])) == [3, 3, 3]
    assert pytree._broadcast_to_and_flatten([1], pytree.tree_structure([1, 2])) is None


def test_paths_to_leaves():
    found = pytree.tree_leaves_with_path(TREE)
    assert [pytree.keystr(path) for path, _ in found] == [
        "['b'][0]", "['b'][1][0]", "['b'][1][1]", "['a'].x", "['a'].y[0]"]
    assert pytree.key_get(TREE, found[1][0]) == 2
    named = pytree.tree_map_with_path(lambda path, leaf: pytree.keystr(path), [1, {"k": 2}])
    assert named == ["[0]", {"k": "[1]['k']"}]


def test_specs_travel_as_text():
    spec = pytree.tree_structure({"a": [1, (2, None)], "b": collections.defaultdict(int, c=1)})
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec
    with pytest.raises(TypeError, match="TreeSpec"):
        pytree.treespec_dumps([1])


def test_classes_become_containers():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    pytree.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda v, _: Pair(*v))
    assert pytree.tree_map(lambda n: n + 1, Pair(1, [2])).b == [3]
    with pytest.raises(ValueError, match="already registered"):
        pytree.register_pytree_node(Pair, None, None)

    @dataclasses.dataclass
    class State:
        a: int
        b: object = None

    pytree.register_dataclass(State)
    assert pytree.tree_map(lambda n: n + 1, State(1)) == State(2)


@pytest.mark.parametrize("call", [
    lambda: pytree.tree_map(lambda a, b: a, [1, 2], [3]),
    lambda: pytree.tree_map(lambda a, b: a, {"a": 1}, {"b": 1}),
    lambda: pytree.tree_map(lambda a, b: a, {"a": 1}, [1]),
    lambda: pytree.tree_unflatten([1], pytree.tree_structure([1, 2]))])
def test_trees_of_other_shapes_are_refused(call):
    with pytest.raises(ValueError):
        call()


def test_a_captured_function_may_map_a_tree():
    def total(tree):
        doubled = pytree.tree_map(lambda t: t * 2, tree)
        return sum(pytree.tree_leaves(doubled))

    tree = {"a": x, "b": [x + 1]}
    assert fg.compile(total, fullgraph=True)(tree).equal(total(tree))


def test_memory_is_exchanged_by_capsules():
    y = fg.ones(2)
    capsule = fg.utils.dlpack.to_dlpack(y)
    again = fg.utils.dlpack.from_dlpack(capsule)
    again[0] = 5
    assert y[0] == 5 and fg.to_dlpack is fg.utils.dlpack.to_dlpack

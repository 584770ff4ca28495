"""default_collate and default_convert: every kind of sample, classes that stay, refusals."""

import collections

import foregrad as fg
import pytest
from foregrad.utils import data
from foregrad.utils.data._utils.collate import collate, default_collate_fn_map

np = pytest.importorskip("numpy")
Point = collections.namedtuple("Point", "x y")


def same(a, b):
    """Equal in classes, dtypes and values."""
    if isinstance(b, fg.Tensor):
        return isinstance(a, fg.Tensor) and a.dtype == b.dtype and a.tolist() == b.tolist()
    if isinstance(b, dict):
        return type(a) is type(b) and list(a) == list(b) and all(same(a[k], b[k]) for k in b)
    if isinstance(b, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def doubles(*numbers):
    return fg.tensor(numbers, dtype=fg.float64)


@pytest.mark.parametrize("samples, batch", [
    ([1, 2], fg.tensor([1, 2])), ([True, False], fg.tensor([True, False])),
    ([1., 2], doubles(1, 2)), (["a", "b"], ["a", "b"]), ([b"a", b"b"], [b"a", b"b"]),
    ([(1, 2.), (3, 4.)], [fg.tensor([1, 3]), doubles(2, 4)]),
    ([[1, 2.], [3, 4.]], [fg.tensor([1, 3]), doubles(2, 4)]),
    ([{"a": 1}, {"a": 2}], {"a": fg.tensor([1, 2])}),
    ([collections.OrderedDict(a=1), collections.OrderedDict(a=2)],
     collections.OrderedDict(a=fg.tensor([1, 2]))),
    ([Point(1, 2), Point(3, 4)], Point(fg.tensor([1, 3]), fg.tensor([2, 4]))),
    ([range(2), range(2)], [fg.tensor([0, 0]), fg.tensor([1, 1])]),
    ([fg.ones(2), fg.zeros(2)], fg.tensor([[1., 1.], [0., 0.]])),
    ([{"a": (fg.ones(1), "x")}] * 2, {"a": [fg.ones(2, 1), ("x", "x")]}),
    ([np.ones(2), np.zeros(2)], fg.tensor([[1., 1.], [0., 0.]], dtype=fg.float64)),
    ([np.float32(2), np.float32(1)], fg.tensor([2., 1.])), ([np.float64(2)], doubles(2)),
    ([np.int16(2), np.int16(1)], fg.tensor([2, 1], dtype=fg.int16)),
    ([np.bool_(True)], fg.tensor([True])), ([np.array(2), np.array(1)], fg.tensor([2, 1])),
])
def test_samples_become_a_batch(samples, batch):
    assert same(data.default_collate(samples), batch)


def test_a_mapping_keeps_its_class_and_what_else_it_has():
    made = data.default_collate([collections.defaultdict(int, a=1)] * 2)
    assert type(made) is collections.defaultdict and made["missing"] == 0


def test_a_class_that_cannot_be_made_becomes_a_list_or_a_dict():
    class Odd(collections.abc.Mapping):
        def __init__(self, one, two):
            self.items_ = {"a": one, "b": two}

        def __getitem__(self, key):
            return self.items_[key]

        def __iter__(self):
            return iter(self.items_)

        def __len__(self):
            return 2

    assert same(data.default_collate([Odd(1, 2)] * 2),
                {"a": fg.tensor([1, 1]), "b": fg.tensor([2, 2])})


@pytest.mark.parametrize("samples, kind, message", [
    ([None], TypeError, "must contain tensors, numpy arrays, .* found <class 'NoneType'>"),
    ([object()], TypeError, "found <class 'object'>"), ([1j], TypeError, "found <class 'complex'>"),
    ([{1}], TypeError, "found <class 'set'>"), ([np.array(["a"])], TypeError, "found <U1"),
    ([np.array([object()])], TypeError, "found object"),
    ([np.datetime64("2020-01-01")], TypeError, "datetime64"), ([], IndexError, "range"),
    ([[1, 2], [3]], RuntimeError, r"should be of equal size: got \[1, 2\]"),
    ([(1, 2), (3,)], RuntimeError, "should be of equal size"), ([{"a": 1}, {}], KeyError, "a"),
    ([fg.ones(2), fg.ones(3)], RuntimeError,
     r"stack expects each tensor to be equal size, but got \[2\] at entry 0 and \[3\] at entry 1"),
    ([fg.ones(2), 1], TypeError, "expected Tensor as element 1 in argument 0, but got int"),
    ([1, "a"], TypeError, "expected numbers only, .* got int, str")])
def test_samples_that_do_not_fit_are_refused(samples, kind, message):
    with pytest.raises(kind, match=message):
        data.default_collate(samples)


def test_a_map_adds_classes():
    class Box:
        def __init__(self, content):
            self.content = content

    def collate_boxes(batch, *, collate_fn_map=None):
        return Box(collate([box.content for box in batch], collate_fn_map=collate_fn_map))

    functions = {**default_collate_fn_map, Box: collate_boxes}
    made = collate([{"b": Box(np.float32(1))}, {"b": Box(np.float32(2))}],
                   collate_fn_map=functions)
    assert same(made["b"].content, fg.tensor([1., 2.]))
    with pytest.raises(TypeError, match="found <class 'int'>"):
        collate([1, 2])


def test_default_convert_leaves_the_structure():
    given = [1, (2, np.ones(2)), {"a": np.float32(1)}, "x", Point(1, np.ones(1)), None]
    converted = data.default_convert(given)
    assert same(converted[:5], [1, [2, doubles(1, 1)], {"a": fg.tensor(1.)}, "x",
                                Point(1, doubles(1))])
    assert data.default_convert(range(2)) == [0, 1]
    texts = np.array(["s"])
    assert data.default_convert(texts) is texts
    ordered = data.default_convert(collections.OrderedDict(a=np.ones(1)))
    assert type(ordered) is collections.OrderedDict


def test_gradients_flow_through_a_batch():
    x = fg.ones(2, requires_grad=True)
    data.default_collate([x, x * 3]).sum().backward()
    assert x.grad.tolist() == [4, 4]

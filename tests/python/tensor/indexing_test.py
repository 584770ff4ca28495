"""x[...] and x[...] = value."""

import foregrad as fg
import numpy as np
import pytest

ARRAY = np.arange(60, dtype=np.float32).reshape(3, 4, 5)

INDICES = [
    0, -1, slice(1, 3), slice(None, None, 2), slice(-2, None), slice(5, 10), Ellipsis, None,
    (0, 1), (0, 1, 2), (slice(None), 1), (Ellipsis, 1), (0, Ellipsis, slice(1, 3)),
    (None, 0, None), (slice(None), None, 2), [0, 2], ([0, 1], [1, 2]),
    (slice(None), [0, 3]), ([0, 1], slice(None), [1, 2]), (0, [1, 2]), (Ellipsis, [0, 4]),
    ([0, 2], None, [1, 1]), np.array([0, 2]), np.int64(1), (np.int32(0), np.int64(-1)),
    True, False, [True, False, True], (slice(None), [True, False, True, True]),
    np.array([False, True, True]), ARRAY > 30, (), [], [-1, -2],
]


NAMES = [str(index)[:30].replace("\n", "") for index in INDICES]


def for_numpy(index):
    """PyTorch takes an empty list as positions; numpy takes it as floats."""
    return np.array([], dtype=int) if isinstance(index, list) and not index else index


def for_tensors(index):
    return fg.from_numpy(index) if isinstance(index, np.ndarray) and index.ndim == 3 else index


@pytest.mark.parametrize("index", INDICES, ids=NAMES)
def test_reading_gives_what_numpy_gives(index):
    result = fg.from_numpy(ARRAY.copy())[for_tensors(index)]
    expected = ARRAY[for_numpy(index)]
    assert tuple(result.shape) == expected.shape
    assert result.tolist() == expected.tolist()


@pytest.mark.parametrize("index", INDICES, ids=NAMES)
def test_writing_does_what_numpy_does(index):
    x, expected = fg.from_numpy(ARRAY.copy()), ARRAY.copy()
    x[for_tensors(index)] = -7
    expected[for_numpy(index)] = -7
    assert x.tolist() == expected.tolist()


def test_basic_indices_share_memory_and_lists_do_not():
    x = fg.zeros(3, 4)
    for view in (x[0], x[1:], x[:, 2], x[None], x[...], x[0, 1]):
        assert view._is_view() and view._base is x
    for copy in (x[[0]], x[fg.tensor([0])], x[x > -1]):
        assert copy._base is not x
    x[0][1] = 5
    assert x[0, 1] == 5


def test_a_zero_dim_integer_tensor_is_an_integer():
    x = fg.arange(6).view(2, 3)
    assert x[fg.tensor(1)].tolist() == [3, 4, 5]
    assert x[fg.tensor(1)]._base is not None
    assert x[0, fg.tensor(2)].item() == 2


def test_gradients_flow_through_indices():
    x = fg.arange(4.0).requires_grad_()
    (x[0] + x[[1, 1]].sum() + x[2:].sum() * 3).backward()
    assert x.grad.tolist() == [1, 2, 3, 3]


def test_writing_is_recorded():
    x, w = fg.ones(4, requires_grad=True), fg.ones(2, requires_grad=True)
    y = x * 1
    y[1:3] = w * 5
    y.sum().backward()
    assert x.grad.tolist() == [1, 0, 0, 1] and w.grad.tolist() == [5, 5]


def test_values_are_broadcast_and_converted():
    x = fg.zeros(2, 3)
    x[0] = fg.arange(3)
    x[:, 1] = fg.tensor([True, True])
    x[1, 2] = 2.5
    assert x.tolist() == [[0, 1, 2], [0, 1, 2.5]]
    y = fg.zeros(3, dtype=fg.int64)
    y[0] = 2.9
    assert y.tolist() == [2, 0, 0]


@pytest.mark.parametrize("index, error, message", [
    (3, IndexError, "3.*size 3|out of"), (-4, IndexError, "-4"),
    ((0, 0, 0), IndexError, "too many"), ((0, 4), IndexError, "4"), ([0, 3], IndexError, "3"),
    ("a", (IndexError, TypeError), "str|indices|index"),
    (1.5, IndexError, "float|indices"), (slice(None, None, -1), ValueError, "positive|greater"),
    (slice(None, None, 0), ValueError, ""), (slice("a", 2), TypeError, "slice"),
    ([True, False], IndexError, "mask|shape"),
    ({}, (IndexError, TypeError), ""), (object(), (IndexError, TypeError), ""),
    (2**70, (IndexError, OverflowError, RuntimeError, ValueError, TypeError), ""),
])
def test_wrong_indices_have_the_right_type_of_error(index, error, message):
    x = fg.zeros(3, 4)
    with pytest.raises(error, match=message or None):
        x[index]
    with pytest.raises(error, match=message or None):
        x[index] = 1


def test_float_tensors_are_no_indices():
    with pytest.raises(IndexError, match="(?i)long|int"):
        fg.zeros(3)[fg.tensor([0.0, 1.0])]


def test_index_lists_that_do_not_broadcast_are_refused():
    with pytest.raises(IndexError, match="broadcast"):
        fg.zeros(3, 4)[[0, 1], [0, 1, 2]]


def test_values_that_do_not_fit_are_refused():
    x = fg.zeros(3, 4)
    with pytest.raises(RuntimeError, match="5.*4|expand|broadcast"):
        x[0] = fg.zeros(5)
    with pytest.raises((TypeError, ValueError)):
        x[0] = "text"
    with pytest.raises((TypeError, ValueError)):
        x[0] = None


def test_a_zero_dim_tensor_cannot_be_indexed_but_by_ellipsis_and_none():
    x = fg.tensor(3.0)
    with pytest.raises(IndexError, match="0-dim|too many"):
        x[0]
    assert x[...].item() == 3 and tuple(x[None].shape) == (1,)
    x[...] = 5
    x[()] = x + 1
    assert x.item() == 6


def test_items_cannot_be_deleted():
    with pytest.raises(TypeError, match="delet"):
        del fg.zeros(3)[0]


def test_iteration_length_and_membership():
    x = fg.arange(3)
    assert [t.item() for t in x] == [0, 1, 2] and len(x) == 3
    assert 2 in x and 7 not in x
    assert [t.item() for t in reversed(x)] == [2, 1, 0]
    a, b, c = x
    assert (a + b + c).item() == 3
    for wrong in (len, iter):
        with pytest.raises(TypeError, match="0-d"):
            wrong(fg.tensor(1))


def test_values_that_are_put_leave_the_layout_as_it_is():
    x = fg.zeros(2, 3, 4).transpose(0, 2)
    rows = fg.tensor([1, 0])
    for result in (x.index_put((rows,), fg.tensor(1.0)), x.index_fill(0, rows, 1.0),
                   x.index_put((x == 0,), fg.tensor(1.0))):
        assert result.stride() == x.stride() and not result._is_view()

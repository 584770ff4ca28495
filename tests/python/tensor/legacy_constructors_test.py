"""Tensor(...) and x.new(...): integers and a Size are sizes, other sequences are data."""

import foregrad as fg
import numpy as np
import pytest


class Mine(fg.Tensor):
    pass


X, INTS, DOUBLES = fg.ones(2, 3), fg.ones(2, dtype=fg.int64), fg.ones(2, dtype=fg.float64)
MAKERS = {"Tensor": (fg.Tensor, fg.float32), "new": (X.new, fg.float32),
          "new of integers": (INTS.new, fg.int64), "new of doubles": (DOUBLES.new, fg.float64),
          "subclass": (Mine, fg.float32)}


@pytest.fixture(params=MAKERS.values(), ids=MAKERS)
def maker(request):
    return request.param


@pytest.mark.parametrize("arguments, sizes", [
    ((), (0,)), ((3,), (3,)), ((2, 3), (2, 3)), ((fg.Size([2, 3]),), (2, 3)), ((X.size(),), (2, 3)),
    ((fg.Size([]),), ()), ((fg.Size([0, 4]),), (0, 4)), ((X.shape[1:],), (3,)),
    ((X.shape + (4,),), (2, 3, 4)), ((np.int64(3),), (3,)), ((np.int64(3), 2), (3, 2)),
    ((2, fg.tensor(3)), (2, 3)),
])
def test_sizes(maker, arguments, sizes):
    make, dtype = maker
    x = make(*arguments)
    assert x.shape == sizes and x.dtype is dtype and not x.requires_grad


@pytest.mark.parametrize("data, numbers", [
    ([2, 3], [2, 3]), ((2, 3), [2, 3]), ([], []), ((), []), ([[1], [2]], [[1], [2]]),
    (range(3), [0, 1, 2]), ([True, False], [1, 0]), (np.array([1, 2]), [1, 2]),
    (np.array([1.0, 2.0]), [1, 2]), ((fg.Size([2]),), [[2]]), ([fg.tensor(1), 2], [1, 2]),
])
def test_data(maker, data, numbers):
    make, dtype = maker
    assert make(data).tolist() == numbers and make(data).dtype is dtype
    assert make(data=data).tolist() == numbers


@pytest.mark.parametrize("arguments, kinds", [
    ((2.5,), "float"), ((True,), "bool"), ((None,), "NoneType"), (("a",), "str"), (({},), "dict"),
    (({1},), "set"), ((np.float64(3),), "float64"), ((2, [3]), "int, list"),
    ((2, fg.Size([3])), "int, Size"), ((2, 2.5), "int, float"), ((2**63,), "int"),
    ((fg.Size([2]), fg.Size([2])), "Size, Size"), (([1], [2]), "list, list"),
    (([None],), "NoneType"),
])
def test_what_is_neither(maker, arguments, kinds):
    with pytest.raises(TypeError, match=kinds):
        maker[0](*arguments)


def test_negative_sizes(maker):
    with pytest.raises(RuntimeError, match="negative size"):
        maker[0](-1)


def test_keywords(maker):
    make, dtype = maker
    assert make(size=(2, 3)).shape == (2, 3) and make(device="cpu").shape == (0,)
    assert make([1], device="cpu").tolist() == [1]
    for wrong in ({"dtype": fg.float64}, {"requires_grad": True}, {"size": (1,), "data": [1]}):
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            make(**wrong)
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        make([1], size=(2,))


def test_a_tensor_is_taken_as_it_is():
    x = fg.tensor([1.0, 2.0], requires_grad=True)
    for y in (fg.Tensor(x), x.new(x), Mine(x), fg.Tensor(other=x)):
        assert y is not x and y.data_ptr() == x.data_ptr() and y.requires_grad and not y.is_leaf
    assert fg.Tensor(INTS).dtype is fg.int64 and fg.Tensor(fg.tensor(3)).shape == ()
    with pytest.raises(TypeError, match="the tensor is foregrad.float32; expected foregrad.int64"):
        INTS.new(x)


def test_arrays_of_the_dtype_share_their_memory():
    array = np.array([1.0, 2.0], dtype=np.float32)
    x, y, z = fg.Tensor(array), X.new(array), DOUBLES.new(array)
    array[0] = 9
    assert x[0] == 9 and y[0] == 9 and z[0] == 1


def test_subclasses_make_their_own_kind():
    assert type(Mine(2)) is Mine and type(Mine([1.0])) is Mine


def test_new_tensor_takes_every_sequence_as_data():
    assert X.new_tensor(fg.Size([2, 3])).tolist() == [2, 3] and X.new_tensor(3).tolist() == 3
    assert X.new_tensor(2**63).item() == 2.0**63
    with pytest.raises(TypeError):
        X.new_tensor([1], size=(2,))
    with pytest.raises(TypeError, match="NoneType"):
        X.new_tensor([None])
    with pytest.raises(RuntimeError, match="NoneType"):
        fg.tensor([None])

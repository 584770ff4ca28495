"""Tensors and arrays of other libraries over the same memory."""

import array
import gc
import weakref

import foregrad as fg
import numpy as np
import pytest

DTYPES = [("float16", fg.float16), ("float32", fg.float32), ("float64", fg.float64),
          ("int8", fg.int8), ("int16", fg.int16), ("int32", fg.int32), ("int64", fg.int64),
          ("uint8", fg.uint8), ("bool", fg.bool)]


def address(a):
    return a.__array_interface__["data"][0]


@pytest.mark.parametrize("name, dtype", DTYPES)
def test_from_numpy_and_numpy_share_memory(name, dtype):
    a = np.zeros((2, 3), dtype=name)
    x = fg.from_numpy(a)
    assert x.dtype == dtype and x.data_ptr() == address(a)
    x[0, 1] = 1
    assert a[0, 1] == 1
    b = x.numpy()
    assert b.dtype == a.dtype and address(b) == address(a)


def test_strides_and_offsets_survive():
    a = np.arange(24.0).reshape(4, 6)[1::2, ::3]
    x = fg.from_numpy(a)
    assert x.stride() == (12, 3) and x.tolist() == a.tolist()
    x = fg.arange(24).view(4, 6).t()[2:, 1]
    b = x.numpy()
    assert b.strides == (8,) and address(b) == x.data_ptr() and b.tolist() == x.tolist()


def test_the_array_keeps_the_memory_alive_and_the_tensor_too():
    b = fg.arange(1000).numpy()
    c = fg.from_numpy(np.arange(1000))
    for _ in range(10):
        fg.zeros(1000), np.zeros(1000)
    assert b.tolist() == c.tolist() == list(range(1000))


def test_empty_and_zero_dim_arrays():
    assert fg.from_numpy(np.zeros((0, 3))).shape == (0, 3)
    assert fg.zeros(0, 3).numpy().shape == (0, 3)
    x = fg.from_numpy(np.array(3.5))
    assert x.dim() == 0 and x.item() == 3.5 and x.numpy().shape == ()


def test_writing_through_numpy_is_seen_by_the_tensor():
    x = fg.zeros(3)
    x.numpy()[1] = 7
    assert x.tolist() == [0, 7, 0]


@pytest.mark.parametrize("wrong", [[1, 2], 3, "text", None])
def test_from_numpy_wants_an_array(wrong):
    with pytest.raises(TypeError, match="ndarray"):
        fg.from_numpy(wrong)


@pytest.mark.parametrize("name", ["complex64", "complex128", "U3", "object", "datetime64[s]"])
def test_from_numpy_refuses_dtypes_that_do_not_exist_here(name):
    with pytest.raises((TypeError, NotImplementedError)):
        fg.from_numpy(np.zeros(3, dtype=name))


def test_from_numpy_refuses_foreign_byte_order_and_negative_strides():
    with pytest.raises(ValueError):
        fg.from_numpy(np.zeros(3, dtype=">f4"))
    with pytest.raises(ValueError, match="negative"):
        fg.from_numpy(np.zeros(3)[::-1])


def test_from_numpy_warns_about_arrays_that_cannot_be_written():
    a = np.zeros(3)
    a.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable|non-writable"):
        x = fg.from_numpy(a)
    assert x.tolist() == [0, 0, 0]


def test_a_tensor_that_requires_grad_is_no_array():
    x = fg.ones(3, requires_grad=True)
    for convert in (lambda: x.numpy(), lambda: np.asarray(x), lambda: np.array(x)):
        with pytest.raises(RuntimeError, match="detach"):
            convert()
    assert x.detach().numpy().tolist() == [1, 1, 1]
    assert address(x.numpy(force=True)) == x.data_ptr()


def test_bfloat16_has_no_numpy_dtype():
    x = fg.ones(3, dtype=fg.bfloat16)
    with pytest.raises(TypeError, match="BFloat16|bfloat16"):
        x.numpy()
    assert x.tolist() == [1, 1, 1]
    assert x.float().numpy().tolist() == [1, 1, 1]


def test_numpy_functions_take_tensors():
    x = fg.arange(4.0)
    assert address(np.asarray(x)) == x.data_ptr()
    assert np.asarray(x, dtype=np.int32).tolist() == [0, 1, 2, 3]
    copy = np.array(x)
    assert address(copy) != x.data_ptr() and copy.tolist() == [0, 1, 2, 3]
    assert np.sqrt(x).tolist() == [0, 1, 2**0.5, 3**0.5] or np.allclose(np.sqrt(x), x.sqrt())
    assert np.stack([x, x]).shape == (2, 4)


def test_operators_between_arrays_and_tensors_give_tensors():
    x, a = fg.ones(3), np.full(3, 2.0, dtype=np.float32)
    assert isinstance(x + fg.from_numpy(a), fg.Tensor)
    assert (x * np.float32(2)).tolist() == [2, 2, 2]
    assert isinstance(np.float64(2) * x, fg.Tensor)
    assert (np.float64(2) * x).tolist() == [2, 2, 2]


def test_numbers_of_numpy_are_numbers():
    assert fg.tensor(np.float32(1.5)).dtype in (fg.float32, fg.float64)
    assert fg.tensor(np.int64(3)).dtype == fg.int64
    assert fg.zeros(np.int64(2), np.int32(3)).shape == (2, 3)
    assert (fg.ones(2) + np.int64(1)).tolist() == [2, 2]
    assert fg.tensor([np.float64(1), np.float64(2)]).tolist() == [1, 2]


def test_tensor_copies_arrays_and_as_tensor_does_not():
    a = np.zeros(3)
    assert fg.tensor(a).data_ptr() != address(a)
    assert fg.tensor(a).dtype == fg.float64
    assert fg.as_tensor(a).data_ptr() == address(a)
    assert fg.as_tensor(a, dtype=fg.float32).dtype == fg.float32
    assert fg.asarray(a).data_ptr() == address(a)
    assert fg.asarray(a, copy=True).data_ptr() != address(a)
    assert fg.tensor([np.zeros(2), np.ones(2)]).tolist() == [[0, 0], [1, 1]]


def test_dlpack_goes_both_ways_without_a_copy():
    x = fg.arange(6.0).view(2, 3)
    b = np.from_dlpack(x)
    assert address(b) == x.data_ptr() and b.shape == (2, 3)
    a = np.arange(4, dtype=np.int16)
    y = fg.from_dlpack(a)
    assert y.data_ptr() == address(a) and y.dtype == fg.int16
    z = fg.from_dlpack(x)
    assert z.data_ptr() == x.data_ptr()
    assert x.__dlpack_device__() == (1, 0)


def test_dlpack_carries_bfloat16_between_tensors():
    x = fg.ones(3, dtype=fg.bfloat16)
    y = fg.from_dlpack(x)
    assert y.dtype == fg.bfloat16 and y.data_ptr() == x.data_ptr()


def test_a_dlpack_capsule_can_be_given_and_is_used_once():
    x = fg.arange(3.0)
    capsule = x.__dlpack__()
    y = fg.from_dlpack(capsule)
    assert y.data_ptr() == x.data_ptr()
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        fg.from_dlpack(capsule)


def test_a_capsule_that_an_array_hands_out_twice_is_used_once():
    class Array:
        def __init__(self, tensor):
            self.capsule = tensor.__dlpack__()

        def __dlpack__(self, **options):
            return self.capsule

        def __dlpack_device__(self):
            return 1, 0

    array = Array(fg.arange(4.0))
    y = fg.from_dlpack(array)
    for take in (fg.from_dlpack, fg.as_tensor, lambda a: fg.from_dlpack(a.capsule)):
        with pytest.raises(RuntimeError, match="used before"):
            take(array)
    assert y.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_memory_that_other_libraries_see_outlives_a_change_of_the_tensor():
    x = fg.arange(1000.0)
    views = [x.numpy(), np.asarray(memoryview(x)), np.from_dlpack(x)]
    x.data = fg.zeros(3)
    keep = [fg.full((1000,), 7.0) for _ in range(20)]
    for view in views:
        assert view[999] == 999.0 and view.shape == (1000,)
    assert len(keep) == 20


def test_a_capsule_of_another_kind_is_refused():
    import ctypes

    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                     ctypes.c_void_p]
    for name in (b"something", b"used_dltensor", b"used_dltensor_versioned"):
        with pytest.raises((TypeError, RuntimeError)):
            fg.from_dlpack(make(1, name, None))
    for wrong in (None, 3, "text", [1.0], object()):
        with pytest.raises((TypeError, ValueError)):
            fg.from_dlpack(wrong)


def test_an_unused_capsule_gives_its_memory_back(stays_level):
    stays_level(lambda: fg.zeros(100_000).__dlpack__(), times=300)


def test_dlpack_refuses_tensors_that_require_grad():
    with pytest.raises((RuntimeError, BufferError), match="grad"):
        fg.ones(3, requires_grad=True).__dlpack__()


@pytest.mark.parametrize("wrong", [3, "text", [1.0]])
def test_from_dlpack_wants_an_array(wrong):
    with pytest.raises((TypeError, AttributeError, RuntimeError)):
        fg.from_dlpack(wrong)


def test_tensors_come_from_other_sequences():
    assert fg.tensor(range(3)).tolist() == [0, 1, 2]
    assert fg.tensor(array.array("d", [1.5, 2.5])).tolist() == [1.5, 2.5]
    assert fg.tensor((1, (2))).tolist() == [1, 2]
    assert fg.tensor([[]]).shape == (1, 0)
    assert fg.tensor([True, False]).dtype == fg.bool
    assert fg.tensor([1, 2.5]).dtype == fg.float32
    assert fg.tensor([1, True]).dtype == fg.int64
    assert fg.tensor([fg.tensor(1), fg.tensor(2)]).tolist() == [1, 2]


@pytest.mark.parametrize("data, error", [
    ([[1], [1, 2]], ValueError), ([1, [2]], TypeError), ("text", TypeError),
    (None, (TypeError, RuntimeError)), ([1, "a"], (TypeError, ValueError)),
    ({"a": 1}, (TypeError, RuntimeError)), (object(), (TypeError, RuntimeError)),
    ([2**70], ValueError), (2**70, ValueError), ([1, None], (TypeError, RuntimeError)),
    ([1j], (TypeError, NotImplementedError)),
])
def test_wrong_data_has_the_right_type_of_error(data, error):
    with pytest.raises(error):
        fg.tensor(data)


def test_numbers_leave_as_python_numbers():
    assert type(fg.tensor(1.5).item()) is float and type(fg.tensor(2).item()) is int
    assert type(fg.tensor(True).item()) is bool
    assert float(fg.tensor(2)) == 2.0 and int(fg.tensor(2.7)) == 2 and bool(fg.tensor(1))
    assert [10, 20][fg.tensor(1)] == 20
    for convert in (float, int, bool, lambda x: x.item()):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            convert(fg.ones(2))


def test_an_array_is_released_with_the_last_tensor_over_it():
    array = np.arange(1000.0)
    alive = weakref.ref(array)
    x = fg.from_numpy(array).requires_grad_()
    loss = (x * x).sum()
    del array, x
    loss.backward()
    del loss
    gc.collect()
    assert alive() is None


def test_lists_of_every_dtype_have_the_numbers_and_kinds_of_the_tensor():
    for dtype in (fg.float16, fg.bfloat16, fg.float32, fg.float64):
        assert fg.tensor([[1.5, -2.0]], dtype=dtype).t().tolist() == [[1.5], [-2.0]]
    for dtype in (fg.uint8, fg.int8, fg.int16, fg.int32, fg.int64):
        assert fg.tensor([1, 2], dtype=dtype).tolist() == [1, 2]
    assert fg.tensor([True, False]).tolist() == [True, False]
    assert type(fg.tensor(True).tolist()) is bool and type(fg.tensor(1).tolist()) is int
    assert fg.zeros(2, 0).tolist() == [[], []]

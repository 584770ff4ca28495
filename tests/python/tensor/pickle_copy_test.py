"""Copies and pickles of tensors and of what describes them."""

import copy
import pickle

import foregrad as fg
import pytest


class Mine(fg.Tensor):
    pass


def through_pickle(value, protocol=pickle.DEFAULT_PROTOCOL):
    return pickle.loads(pickle.dumps(value, protocol))


DTYPES = [fg.float16, fg.bfloat16, fg.float32, fg.float64, fg.int8, fg.int16, fg.int32, fg.int64,
          fg.uint8, fg.bool]


@pytest.mark.parametrize("again", [through_pickle, copy.deepcopy])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_dtype_and_sizes_survive(again, dtype):
    x = fg.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype)
    y = again(x)
    assert y.dtype == dtype and y.shape == (2, 3) and y.tolist() == x.tolist()
    assert y.data_ptr() != x.data_ptr()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_works(protocol):
    assert through_pickle(fg.arange(5), protocol).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("again", [through_pickle, copy.deepcopy])
def test_views_zero_dim_and_empty_tensors_survive(again):
    base = fg.arange(12.0).view(3, 4)
    for x in (base.t(), base[1:, ::2], fg.tensor(3.5), fg.zeros(0, 3), base[0].expand(2, 4)):
        y = again(x)
        assert y.tolist() == x.tolist() and y.shape == x.shape


@pytest.mark.parametrize("again", [through_pickle, copy.deepcopy])
def test_strides_survive(again):
    x = fg.arange(12.0).view(3, 4).t()
    assert again(x).stride() == x.stride()


@pytest.mark.parametrize("again", [through_pickle, copy.deepcopy])
def test_requires_grad_class_and_attributes_survive(again):
    x = Mine(fg.ones(3)).requires_grad_()
    x.note = {"a": [1]}
    y = again(x)
    assert type(y) is Mine and y.requires_grad and y.is_leaf
    assert y.note == {"a": [1]} and y.note is not x.note


@pytest.mark.parametrize("again", [through_pickle, copy.deepcopy])
def test_parameters_survive(again):
    x = fg.nn.Parameter(fg.ones(3))
    y = again(x)
    assert type(y) is fg.nn.Parameter and y.requires_grad and y.tolist() == [1, 1, 1]
    frozen = again(fg.nn.Parameter(fg.ones(3), requires_grad=False))
    assert type(frozen) is fg.nn.Parameter and not frozen.requires_grad


def test_deepcopy_copies_the_gradient():
    x = fg.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    y = copy.deepcopy(x)
    assert y.grad.tolist() == [2, 2, 2] and y.grad is not x.grad
    assert y.grad.data_ptr() != x.grad.data_ptr()


def test_deepcopy_keeps_one_object_one():
    x = fg.ones(3)
    a, b = copy.deepcopy([x, x])
    assert a is b


def test_deepcopy_keeps_shared_memory_shared():
    base = fg.zeros(4)
    a, b = copy.deepcopy([base, base[:2]])
    a[0] = 7
    assert b[0] == 7


def test_pickle_keeps_one_object_one():
    base = fg.zeros(4)
    a, b = through_pickle([base, base])
    assert a is b


def test_a_cycle_through_an_attribute_survives():
    x = fg.ones(3)
    x.me = [x]
    y = copy.deepcopy(x)
    assert y.me[0] is y
    z = through_pickle(x)
    assert z.me[0] is z


@pytest.mark.parametrize("again", [copy.deepcopy])
def test_non_leaves_cannot_be_deepcopied(again):
    y = fg.ones(3, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="leaves|detach"):
        again(y)
    assert again(y.detach()).tolist() == [2, 2, 2]


def test_a_shallow_copy_shares_the_memory():
    x = fg.ones(3, requires_grad=True)
    x.note = [1]
    y = copy.copy(x)
    assert y is not x and y.data_ptr() == x.data_ptr() and y.note is x.note


@pytest.mark.parametrize("again", [through_pickle, copy.deepcopy, copy.copy])
def test_descriptions_survive_as_the_same_objects(again):
    for dtype in DTYPES:
        assert again(dtype) is dtype
    assert again(fg.strided) is fg.strided
    assert again(fg.contiguous_format) is fg.contiguous_format
    assert again(fg.device("cpu")) == fg.device("cpu")
    size = again(fg.Size([2, 3]))
    assert type(size) is fg.Size and size == (2, 3)


def test_functions_can_be_pickled():
    for function in (fg.add, fg.sin, fg.Tensor.add, fg.nn.functional.relu):
        assert through_pickle(function) is function


def test_a_pickle_written_by_another_process_can_be_read(run_program, tmp_path):
    path = tmp_path / "tensor.pickle"
    run_program(f"""
        import pickle
        import foregrad as fg
        with open({str(path)!r}, "wb") as file:
            pickle.dump({{"x": fg.arange(3.0).requires_grad_()}}, file)
    """)
    with open(path, "rb") as file:
        x = pickle.load(file)["x"]
    assert x.tolist() == [0, 1, 2] and x.requires_grad


def test_states_of_generators_can_be_kept():
    generator = fg.Generator()
    generator.manual_seed(5)
    state = generator.get_state()
    first = fg.rand(3, generator=generator)
    generator.set_state(through_pickle(state))
    assert fg.rand(3, generator=generator).tolist() == first.tolist()


def _nothing(*args):
    return None


@pytest.mark.parametrize("again", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
def test_a_handle_goes_with_its_module(again):
    module = fg.nn.Linear(1, 1)
    handle = module.register_forward_hook(_nothing)
    other, other_handle = again((module, handle))
    assert other_handle.id == handle.id
    other_handle.remove()
    assert len(other._forward_hooks) == 0 and len(module._forward_hooks) == 1


def test_a_copied_handle_removes_the_same_hook_and_a_pickled_one_none():
    module = fg.nn.Linear(1, 1)
    handle = module.register_forward_hook(_nothing)
    pickle.loads(pickle.dumps(handle)).remove()
    assert len(module._forward_hooks) == 1
    copy.copy(handle).remove()
    assert len(module._forward_hooks) == 0
    with handle:
        pass


def test_a_handle_read_from_outside_does_not_meet_later_ones():
    handle = fg.ones(1, requires_grad=True).register_hook(_nothing)
    state = (None, handle.id + 1000, ())
    fresh = type(handle).__new__(type(handle))
    fresh.__setstate__(state)
    assert fresh.hooks_dict_ref() is None
    assert fg.ones(1, requires_grad=True).register_hook(_nothing).id > fresh.id
    fresh.__setstate__(state[:2])  # as older handles are written
    assert fresh.extra_dict_ref == ()

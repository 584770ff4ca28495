"""Pickles and deep copies of models, optimisers and memory: shared things stay shared."""

import copy
import pickle

import foregrad as fg
import pytest
from foregrad import nn


def through_pickle(value, protocol=pickle.DEFAULT_PROTOCOL):
    return pickle.loads(pickle.dumps(value, protocol))


AGAIN = [through_pickle, copy.deepcopy]
MODULES = [
    nn.Linear(2, 2), nn.Conv2d(1, 2, 3), nn.ConvTranspose1d(2, 2, 3), nn.BatchNorm1d(2),
    nn.InstanceNorm1d(2, affine=True), nn.LayerNorm(2), nn.GroupNorm(1, 2), nn.Embedding(3, 2),
    nn.MultiheadAttention(4, 2), nn.Dropout(0.25), nn.ReLU(), nn.Softmax(1), nn.MaxPool2d(2),
    nn.Flatten(), nn.Unflatten(1, (2, 2)), nn.CrossEntropyLoss(), nn.Identity(),
    nn.Sequential(nn.Linear(2, 2), nn.Tanh()), nn.ModuleList([nn.Linear(1, 1)]),
    nn.ModuleDict({"a": nn.ReLU()}), nn.ParameterList([fg.ones(1)]),
    nn.ParameterDict({"a": fg.ones(1)})]


@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize("module", MODULES, ids=lambda module: type(module).__name__)
def test_modules_survive(again, module):
    made = again(module.eval())
    assert type(made) is type(module) and repr(made) == repr(module) and not made.training
    assert [*made.state_dict()] == [*module.state_dict()]
    for (name, mine), its in zip(module.state_dict().items(), made.state_dict().values()):
        assert mine.equal(its) and mine.dtype is its.dtype, name
        assert mine.data_ptr() != its.data_ptr() or mine.numel() == 0
    assert [p.requires_grad for p in made.parameters()] == [
        p.requires_grad for p in module.parameters()]


@pytest.mark.parametrize("again", AGAIN)
def test_weights_that_are_tied_stay_tied(again):
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    net[1].weight = net[0].weight
    made = again(net)
    assert made[0].weight is made[1].weight and made[0].weight is not net[0].weight


@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_optimisers_go_on_as_before(again, name):
    def step(net, optimizer):
        optimizer.zero_grad()
        net(fg.ones(2, 3)).pow(2).sum().backward()
        optimizer.step()

    net = nn.Linear(3, 2)
    optimizer = getattr(fg.optim, name)(net.parameters(), lr=0.1)
    step(net, optimizer)
    other, second = again((net, optimizer))
    assert second.param_groups[0]["params"][0] is other.weight
    step(net, optimizer)
    step(other, second)
    assert net.weight.equal(other.weight) and net.bias.equal(other.bias)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_keeps_shared_memory_shared(protocol):
    base = fg.arange(12.0).view(3, 4)
    made, row, turned, bits, parameter = through_pickle(
        [base, base[1], base.t(), base.view(fg.int32), nn.Parameter(base[2])], protocol)
    made[1, 2] = 77
    made[2, 0] = 55
    assert row[2] == 77 and turned[2, 1] == 77 and parameter[0] == 55
    assert bits[1, 2] == fg.tensor(77.0).view(fg.int32)
    assert turned.stride() == (1, 4) and row.storage_offset() == 4


def test_a_copy_keeps_memory_of_several_dtypes():
    base = fg.arange(4.0)
    made, bits = copy.deepcopy([base, base.view(fg.int32)])
    bits[1] = 0
    assert made.tolist() == [0, 0, 2, 3] and bits.dtype is fg.int32


def test_two_pickles_have_memory_of_their_own():
    x = fg.zeros(2)
    pickler_free = pickle.dumps(x)
    x[0] = 1
    assert pickle.loads(pickler_free).tolist() == [0, 0] and through_pickle(x).tolist() == [1, 0]


def test_bytes_beside_the_pickle_are_not_copied():
    x, buffers = fg.arange(5.0), []
    data = pickle.dumps(x, 5, buffer_callback=buffers.append)
    assert len(buffers) == 1 and len(buffers[0].raw()) == 20 and len(data) < 250
    assert pickle.loads(data, buffers=buffers).equal(x)


def test_older_pickles_of_tensors_are_read():
    from foregrad._tensor import _rebuild

    data = fg.arange(3.0).numpy().tobytes()
    x = _rebuild(fg.Tensor, data, fg.float32, (3,), True, {"note": 1}, None)
    assert x.tolist() == [0, 1, 2] and x.requires_grad and x.note == 1


@pytest.mark.parametrize("claim", [(0, (3,), (1,)), (-1, (1,), (1,)), (0, (1,), (2**70,)),
                                   (0, (2,), (-1,)), (0, (1, 1), (1,)), (0.0, (1,), (1,))])
def test_a_pickle_with_wrong_claims_is_refused(claim):
    from foregrad._tensor import _rebuild_over

    with pytest.raises(ValueError, match="reach beyond|all of them integers"):
        _rebuild_over(fg.Tensor, fg.ones(2).untyped_storage(), fg.float32, *claim, False)


# ---- memory

def test_tensors_over_one_memory_have_one_storage():
    base = fg.arange(4.0)
    storage = base.untyped_storage()
    assert storage is base[1:].untyped_storage() and storage is not base.clone().untyped_storage()
    assert storage.nbytes() == len(storage) == storage.size() == 16 and storage.element_size() == 1
    assert storage.data_ptr() == base.data_ptr() and storage.device == fg.device("cpu")
    assert storage[6] == 128 and sum(storage) == sum(storage.tolist())
    assert storage.cpu() is storage and storage.untyped() is storage and not storage.is_cuda
    storage[3] = 64  # two, as the last byte of a float
    assert base[0] == 2.0
    assert "of size 16]" in repr(storage)
    with pytest.raises(RuntimeError, match="only the cpu exists"):
        storage.cuda()


def test_storages_are_made_copied_and_filled():
    storage = fg.UntypedStorage([1, 2, 3])
    other = fg.UntypedStorage(3).copy_(storage)
    assert other.tolist() == [1, 2, 3] and storage.clone().tolist() == [1, 2, 3]
    assert other.fill_(7).tolist() == [7, 7, 7]
    with pytest.raises(RuntimeError, match="copy_: the storage has 3 bytes, and the source 2"):
        other.copy_(fg.UntypedStorage(2))


@pytest.mark.parametrize("again", AGAIN)
def test_a_storage_goes_with_its_tensors(again):
    base = fg.arange(3.0)
    for thing in ([base, base.untyped_storage()], [base.untyped_storage(), base]):
        made = again(thing)
        tensor, storage = sorted(made, key=lambda each: not isinstance(each, fg.Tensor))
        assert tensor.equal(base) and tensor.dtype is base.dtype
        assert tensor.untyped_storage().data_ptr() == storage.data_ptr() != base.data_ptr()


def test_memory_with_a_dtype():
    typed = fg.TypedStorage(wrap_storage=fg.arange(3.0).untyped_storage(), dtype=fg.float32)
    assert len(typed) == typed.size() == 3 and typed.nbytes() == 12 and typed.tolist() == [0, 1, 2]
    typed[1] = 5.0
    assert typed[1] == 5 and list(typed) == [0, 5, 2] and typed.untyped().nbytes() == 12
    assert through_pickle(typed).tolist() == typed.clone().tolist() == [0, 5, 2]
    assert typed.element_size() == 4 and "dtype=foregrad.float32" in repr(typed)
    with pytest.raises(TypeError, match="expected an UntypedStorage and a dtype"):
        fg.TypedStorage(wrap_storage=[1], dtype=fg.float32)


@pytest.mark.parametrize("again", AGAIN)
def test_generators_go_on_from_their_state(again):
    generator = fg.Generator().manual_seed(3)
    fg.rand(3, generator=generator)
    other = again(generator)
    assert fg.rand(4, generator=other).equal(fg.rand(4, generator=generator))


def test_compiled_modules_are_pickled_with_their_module():
    net = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    compiled = fg.compile(net, fullgraph=True)
    x = fg.randn(2, 3)
    expected = compiled(x)
    assert through_pickle(compiled)(x).equal(expected)
    assert fg.compile(through_pickle(net), fullgraph=True)(x).equal(expected)

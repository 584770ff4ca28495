"""Files that PyTorch wrote: checkpoints and values as they were, whole modules when trusted."""

import collections
import io
import pickle

import foregrad as fg
import numpy as np
import pytest
from foregrad import nn, serialization
from pytorch_files import file


def network():
    return nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.ReLU())


def test_a_checkpoint_goes_on_where_it_stopped():
    state = fg.load(file("checkpoint"))
    net = network()
    optimizer = fg.optim.AdamW(net.parameters())
    assert str(net.load_state_dict(state["net"])) == "<All keys matched successfully>"
    optimizer.load_state_dict(state["optimizer"])
    assert optimizer.param_groups[0]["lr"] == 0.25 and state["epoch"] == 7
    assert optimizer.state[net[0].weight]["step"].item() == 1
    assert state["net"]._metadata[""] == {"version": 1}
    assert type(state["net"]) is collections.OrderedDict
    net(fg.arange(12.0).view(4, 3)).pow(2).sum().backward()
    optimizer.step()
    assert optimizer.state[net[0].weight]["step"].item() == 2


@pytest.fixture(params=["values", "stream"])
def values(request):
    return fg.load(file(request.param))


def test_every_dtype_is_read(values):
    for name, tensor in values["dtypes"].items():
        assert tensor.dtype is getattr(fg, name) and tensor.tolist() == [0, 1]


def test_views_share_their_memory(values):
    base, rows, turned, expanded = values["views"]
    assert base.tolist() == fg.arange(12.0).view(3, 4).tolist()
    assert rows.stride() == (4, 2) and rows.storage_offset() == 4 and turned.stride() == (1, 4)
    assert expanded.stride() == (0, 1) and expanded.shape == (2, 4)
    base[1, 2] = 77
    assert rows[0, 1] == 77 and turned[2, 1] == 77
    assert not rows._is_view() and rows.is_leaf and rows._version == 0


def test_tensors_keep_what_they_are(values):
    assert values["empty"].shape == (0, 3) and values["number"].item() == 2.5
    assert type(values["marked"]) is fg.Tensor and values["marked"].note == {"a": [1]}
    assert values["grad"].requires_grad and values["grad"].is_leaf
    assert type(values["parameter"]) is nn.Parameter and values["parameter"].requires_grad
    assert type(values["frozen"]) is nn.Parameter and not values["frozen"].requires_grad
    assert type(values["named"]) is nn.Parameter and values["named"].note == "kept"
    assert type(values["buffer"]) is nn.Buffer and values["buffer"].persistent


def test_plain_values_are_read(values):
    assert values["plain"] == [
        fg.Size([2, 3]), fg.float32, fg.bfloat16, fg.device("cpu"), fg.strided, {1, 2}, b"bytes",
        bytearray(b"more"), 1 + 2j, 2**100, None, True, collections.Counter("aab"),
        collections.OrderedDict(b=1, a=2), (1, (2.5, "text"))]
    array, number = values["numpy"]
    assert array.dtype == np.int16 and array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert type(number) is np.float64 and number == 2.5
    assert values["storage"].nbytes() == 12 and values["storage"][11] == 64


def test_a_file_of_a_later_protocol_is_read():
    ones, size, data = fg.load(file("protocol 4"))
    assert ones.tolist() == [1, 1] and size == fg.Size([2]) and data == b"x"


def test_a_whole_module_needs_trust_and_is_then_one_of_ours():
    with pytest.raises(pickle.UnpicklingError, match="torch.nn.modules.container.Sequential"):
        fg.load(file("module"))
    assert serialization.get_unsafe_globals_in_checkpoint(file("module")) == [
        "torch.nn.modules.container.Sequential", "torch.nn.modules.linear.Linear",
        "torch.nn.modules.batchnorm.BatchNorm1d", "torch.nn.modules.activation.ReLU"]
    net = fg.load(file("module"), weights_only=False)
    assert repr(net) == repr(network()) and not net.training
    again = network().eval()
    again.load_state_dict(net.state_dict())
    x = fg.arange(6.0).view(2, 3)
    assert net(x).equal(again(x))
    compiled = fg.compile(net, fullgraph=True)
    assert compiled(x).equal(net(x))
    with serialization.safe_globals([nn.Sequential, nn.Linear, nn.BatchNorm1d, nn.ReLU]):
        assert fg.load(file("module"))(x).equal(net(x))


@pytest.mark.parametrize("name, text", [("sparse", "a sparse tensor"),
                                        ("complex", "torch.ComplexFloatStorage")])
@pytest.mark.parametrize("weights_only", [True, False])
def test_what_does_not_exist_here_is_refused_by_name(name, text, weights_only):
    with pytest.raises(pickle.UnpicklingError, match=f"load: the file has .*{text}.* convert it"):
        fg.load(file(name), weights_only=weights_only)


def test_what_was_read_can_be_written_and_read_again(values):
    stream = io.BytesIO()
    fg.save(values, stream)
    stream.seek(0)
    again = fg.load(stream)
    assert again["plain"] == values["plain"] and list(again) == list(values)
    assert again["views"][1].tolist() == values["views"][1].tolist()
    assert again["storage"].tolist() == values["storage"].tolist()


def test_a_class_that_foregrad_does_not_have_is_refused_by_name():
    data = file("module").getvalue()
    with pytest.raises((pickle.UnpicklingError, RuntimeError), match="checksum"):
        fg.load(io.BytesIO(data.replace(b"activation\nReLU", b"activation\nXeLU")))
    from pickle_parts import archive, call, pickle_of

    with pytest.raises(pickle.UnpicklingError, match="torch.nn.Nonsense, which does not exist"):
        fg.load(io.BytesIO(archive(pickle_of(call("torch.nn", "Nonsense")))), weights_only=False)

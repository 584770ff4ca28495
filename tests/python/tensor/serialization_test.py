"""save() and load(): any object, memory that is shared stays shared, and no foreign code."""

import collections
import io
import pathlib
import pickle

import foregrad as fg
import numpy as np
import pytest
from foregrad import nn, safetensors, serialization


def again(thing, **options):
    file = io.BytesIO()
    fg.save(thing, file)
    file.seek(0)
    return fg.load(file, **options)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU())
        self.head = nn.Linear(4, 2)
        self.register_buffer("scale", fg.tensor([2.0]))
        self.options = {"name": "net", "sizes": (3, 4)}

    def forward(self, x):
        return self.head(self.layers(x)) * self.scale


class Mine(fg.Tensor):
    pass


class Config:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value


@pytest.mark.parametrize("dtype", [fg.float16, fg.bfloat16, fg.float32, fg.float64, fg.int8,
                                   fg.int16, fg.int32, fg.int64, fg.uint8, fg.bool], ids=str)
def test_every_dtype(dtype):
    x = fg.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype)
    y = again(x)
    assert y.dtype == dtype and y.shape == (2, 3) and y.tolist() == x.tolist()


def test_views_keep_their_layout_and_are_no_views_afterwards():
    base = fg.arange(12.0).view(3, 4)
    for x in (base.t(), base[1:, ::2], fg.tensor(3.5), fg.zeros(0, 3), base[0].expand(2, 4),
              base.view(fg.int32)[1]):
        y = again(x)
        assert y.tolist() == x.tolist() and y.shape == x.shape and y.stride() == x.stride()
        assert y.dtype == x.dtype and not y._is_view() and y.is_leaf and y._version == 0


def test_shared_memory_stays_shared():
    base = fg.zeros(2, 3)
    thing = again({"row": base[0], "all": base, "bits": base.view(fg.int32), "column": base[:, 1]})
    thing["row"][1] = 7
    assert thing["all"][0, 1] == 7 and thing["column"][0] == 7
    assert thing["bits"][0, 1].item() == fg.tensor(7.0).view(fg.int32).item()


def test_one_object_stays_one():
    x, inner = fg.ones(2), [1]
    thing = again([x, x, inner, inner])
    assert thing[0] is thing[1] and thing[2] is thing[3]


def test_requires_grad_parameters_and_attributes_survive():
    x = fg.ones(2, requires_grad=True)
    p, frozen = nn.Parameter(fg.ones(1)), nn.Parameter(fg.ones(1), requires_grad=False)
    x.note = [1, {"a": 2}]
    product = x * 2
    a, b, c, d = again([x, p, frozen, product])
    assert a.requires_grad and a.is_leaf and a.note == [1, {"a": 2}]
    assert type(b) is nn.Parameter and b.requires_grad
    assert type(c) is nn.Parameter and not c.requires_grad
    assert d.requires_grad and d.is_leaf and d.tolist() == [2, 2]


def test_containers_and_descriptions_survive():
    thing = {"ordered": collections.OrderedDict(b=1, a=2), "set": {1, 2}, (1, 2): 3, None: 4,
             "count": collections.Counter("aab"), "default": collections.defaultdict(list, a=[1]),
             "bytes": b"x", "complex": 1 + 2j, "size": fg.Size([2, 3]), "dtype": fg.float32,
             "device": fg.device("cpu"), "layout": fg.strided, "large": 2**100,
             "__metadata__": fg.ones(1)}
    loaded = again(thing)
    assert {k: v for k, v in loaded.items() if k != "__metadata__"} == \
        {k: v for k, v in thing.items() if k != "__metadata__"}
    assert loaded["__metadata__"].item() == 1
    assert type(loaded["ordered"]) is collections.OrderedDict and type(loaded["size"]) is fg.Size


def test_an_object_may_contain_itself():
    thing = [fg.ones(1)]
    thing.append(thing)
    loaded = again(thing)
    assert loaded[1] is loaded and loaded[0].item() == 1


def test_states_of_modules_and_optimisers_need_no_trust():
    net = Net()
    optimiser = fg.optim.AdamW(net.parameters(), lr=0.1)
    net(fg.randn(5, 3)).sum().backward()
    optimiser.step()
    state = again({"net": net.state_dict(), "optimiser": optimiser.state_dict(), "epoch": 3})
    other = Net()
    other.load_state_dict(state["net"])
    second = fg.optim.AdamW(other.parameters())
    second.load_state_dict(state["optimiser"])
    x = fg.randn(2, 3)
    assert other.eval()(x).equal(net.eval()(x)) and second.param_groups[0]["lr"] == 0.1


def test_modules_are_saved_whole():
    net, x = Net().eval(), fg.randn(2, 3)
    loaded = again(net, weights_only=False)
    assert type(loaded) is Net and loaded(x).equal(net(x)) and not loaded.training
    assert loaded.options == net.options and [*loaded.state_dict()] == [*net.state_dict()]
    assert all(type(p) is nn.Parameter and p.requires_grad for p in loaded.parameters())


@pytest.mark.parametrize("thing, name", [
    (np.arange(3.0), "numpy"), (Config(3), "serialization_test.Config"), (Net(), "Net"),
    (Mine(fg.ones(1)), "Mine"), (print, "builtins.print"), ([{"a": pathlib.Path("x")}], "pathlib"),
], ids=str)
def test_other_classes_are_refused_unless_they_are_trusted(thing, name):
    with pytest.raises(pickle.UnpicklingError, match=rf"load: the file names .*{name}.*, and "
                       "weights_only=True builds tensors, containers, numbers and texts only"):
        again(thing)
    with pytest.raises(pickle.UnpicklingError):
        again(thing, weights_only=None)
    assert type(again(thing, weights_only=False)) is type(thing)


@pytest.mark.parametrize("name", ["foregrad.nn.parameter Parameter", "collections OrderedDict",
                                  "foregrad.serialization _rebuild"])
def test_a_file_changes_no_class_or_function_of_the_program(name):
    module, _, thing = name.partition(" ")
    found = getattr(__import__(module, fromlist=[thing]), thing)
    # The state of the class: no dictionary, and one attribute to set.
    program = f"c{found.__module__}\n{found.__qualname__}\n(N(dVchanged\nI1\nstb.".encode()
    data = fg.tensor(list(program), dtype=fg.uint8)
    file = safetensors.save({"it": data}, {"foregrad.pickle": "it"})
    with pytest.raises(pickle.UnpicklingError, match="load: the file changes .* itself"):
        fg.load(io.BytesIO(file))
    assert not hasattr(found, "changed")


def test_numpy_arrays_survive():
    thing = {"a": np.arange(6).reshape(2, 3), "b": np.float64(2.5), "x": fg.ones(1)}
    loaded = again(thing, weights_only=False)
    assert (loaded["a"] == thing["a"]).all() and loaded["b"] == 2.5 and loaded["x"].item() == 1


def test_what_a_user_trusts():
    with serialization.safe_globals([Config]):
        assert again(Config(fg.ones(1))).value.item() == 1
    with pytest.raises(pickle.UnpicklingError):
        again(Config(1))
    serialization.add_safe_globals([Config, (Mine, f"{Mine.__module__}.Mine")])
    try:
        assert again([Config(1), Mine(fg.ones(1))])[0] == Config(1)
        assert serialization.get_safe_globals() == [Config, Mine]
    finally:
        serialization.clear_safe_globals()
    assert serialization.get_safe_globals() == []


class Evil:
    def __reduce__(self):
        return exec, ("import builtins; builtins.foregrad_was_tricked = True",)


def test_no_code_of_a_file_is_run():
    with pytest.raises(pickle.UnpicklingError, match="names builtins.exec"):
        again({"a": Evil()})
    import builtins
    assert not hasattr(builtins, "foregrad_was_tricked")


def with_pickle(stream):
    entries = {"x": fg.zeros(4), "p": fg.tensor(list(stream), dtype=fg.uint8)}
    return io.BytesIO(safetensors.save(entries, {"foregrad.pickle": "p"}))


class Claim:
    """A tensor of these sizes over the memory of four elements."""

    def __init__(self, *claims):
        self.claims = claims

    def __reduce__(self):
        return serialization._rebuild, (fg.Tensor, serialization._Memory("x", None), fg.float32,
                                        *self.claims, False)


@pytest.mark.parametrize("offset, shape, strides", [
    (0, (5,), (1,)), (1, (4,), (1,)), (4, (1,), (1,)), (-1, (2,), (1,)), (0, (2, 2), (3, 1)),
    (0, (-1,), (1,)), (0, (2,), (-1,)), (0, (2**62, 2), (4, 1)), (2**63, (1,), (1,)),
    (0, (2,), (1, 1)), (0, (2, 2), (2**64, 1)),
])
def test_claims_of_a_file_about_its_memory_are_checked(offset, shape, strides):
    stream = io.BytesIO()
    serialization._pickler(pickle, stream, 4, None).dump(Claim(offset, shape, strides))
    with pytest.raises(pickle.UnpicklingError, match="the file's pickle cannot be read"):
        fg.load(with_pickle(stream.getvalue()))


@pytest.mark.parametrize("stream", [b"", b"\x80\x04", b"garbage", b"\x80\x04\x8c\x01yQ."])
def test_a_broken_pickle_is_a_sentence(stream):
    with pytest.raises(pickle.UnpicklingError):
        fg.load(with_pickle(stream))


def test_files_paths_and_streams(tmp_path):
    x = fg.arange(3.0)
    for f in (tmp_path / "a", str(tmp_path / "b")):
        fg.save(x, f)
        assert fg.load(f).equal(x) and fg.load(f, "cpu").equal(x)
        assert fg.load(f, map_location=fg.device("cpu"), weights_only=True).equal(x)
    with open(tmp_path / "c", "wb") as file:
        fg.save(x, file, pickle_protocol=2)
    with open(tmp_path / "c", "rb") as file:
        assert fg.load(file).equal(x)
    with pytest.raises(FileNotFoundError):
        fg.load(tmp_path / "none")
    with pytest.raises(RuntimeError, match="only 'cpu' exists"):
        fg.load(tmp_path / "c", map_location="cuda")
    (tmp_path / "zip").write_bytes(b"PK\x03\x04 and more of an archive")
    with pytest.raises(ValueError, match="one of torch.save"):
        fg.load(tmp_path / "zip")


def test_what_cannot_be_pickled_is_refused_and_no_file_is_left(tmp_path):
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
        fg.save({"f": lambda: 1}, tmp_path / "file")
    assert not (tmp_path / "file").exists()

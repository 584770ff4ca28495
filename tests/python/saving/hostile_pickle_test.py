"""Hostile pickles: each is one sentence, quickly, and nothing that they name is run."""

import io
import pickle
import time
import warnings

import foregrad as fg
import pytest
from foregrad import serialization
from pickle_parts import (
    BUILD,
    NO_HOOKS,
    PROTO,
    archive,
    call,
    name,
    pickle_of,
    storage,
    tensor,
    value,
)

NOT_ALLOWED = "weights_only=True builds tensors, containers, numbers and texts only"
UNREADABLE = "the file's pickle cannot be read"
MANY = 300_000


def doubled(times):
    """A tuple of two tuples of two tuples ...: small as a graph, without end as a tree."""
    return b")" + b"2\x86" * times


def flood(count):
    """Keys that are different numbers of one hash."""
    return b"}(" + b"".join(value(i * (2**61 - 1)) + b"N" for i in range(1, count)) + b"u"


CODE = [
    ("system", call("posix", "system", "touch tricked"), "posix.system"),
    ("system of os", call("os", "system", "touch tricked"), "os.system"),
    ("eval", call("builtins", "eval", "open('tricked', 'w')"), "builtins.eval"),
    ("eval of Python 2", call("__builtin__", "eval", "open('tricked', 'w')"), "builtins.eval"),
    ("exec", call("builtins", "exec", "open('tricked', 'w')"), "builtins.exec"),
    ("import", call("builtins", "__import__", "os"), "builtins.__import__"),
    ("open", call("io", "open", "tricked", "w"), "io.open"),
    ("getattr", call("builtins", "getattr", name("os", "system"), "x"), "builtins.getattr"),
    ("getattr of what is allowed",
     call("builtins", "getattr", name("collections", "OrderedDict"), "__init__"), "getattr"),
    ("subprocess", call("subprocess", "Popen", ["touch", "tricked"]), "subprocess.Popen"),
    ("runpy", call("runpy", "run_path", "x.py"), "runpy.run_path"),
    ("another pickle", call("_pickle", "loads", "x"), "_pickle.loads"),
    ("partial", call("functools", "partial", name("os", "system")), "functools.partial"),
    ("attrgetter", call("operator", "attrgetter", "system"), "operator.attrgetter"),
    ("reconstructor", call("copyreg", "_reconstructor", None, None, None), "copyreg"),
    ("inside arguments", call("collections", "OrderedDict",
                              [["a", call("os", "system", "touch tricked")]]), "os.system"),
    ("inside a tensor", tensor(hooks=call("os", "system", "touch tricked")), "os.system"),
    ("inside a reference", value(("storage", call("os", "system", "x"), "0", "cpu", 4)) + b"Q",
     "os.system"),
    ("dotted", name("collections", "OrderedDict.fromkeys"), "OrderedDict.fromkeys"),
    ("a module", name("foregrad", "os"), "foregrad.os"),
    ("loading another file", call("torch", "load", "x"), "torch.load"),
    ("our own loading", call("foregrad", "load", "x"), "foregrad.load"),
    ("the hub", call("torch.hub", "load", "x", "y"), "torch.hub.load"),
    ("the command of the package", name("torch.__main__", "main"), "torch.__main__.main"),
    ("a whole module", call("torch.nn.modules.linear", "Linear", 2, 3),
     r"add_safe_globals\(\[foregrad.nn.modules.linear.Linear\]\)"),
    ("a new object", name("torch.nn.modules.linear", "Linear") + b")\x81", "Linear"),
]


@pytest.mark.parametrize("program, names", [case[1:] for case in CODE],
                         ids=[case[0] for case in CODE])
def test_names_that_run_code_are_refused_and_nothing_runs(program, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pickle.UnpicklingError, match=names) as caught:
        fg.load(io.BytesIO(archive(pickle_of(program))))
    assert NOT_ALLOWED in str(caught.value) and not (tmp_path / "tricked").exists()


REFUSED_CALLS = [
    ("a number as a function", value(3) + b")R", "calls 3"),
    ("text of an object", call("builtins", "str", [1]), "calls <class 'str'>"),
    ("a list of a number", call("builtins", "list", 3), "calls <class 'list'>"),
    ("a tensor by its class", call("torch", "Tensor", 3), "makes nothing that files"),
    ("a dtype as a function", name("torch", "float32") + b")R", "float32"),
    ("arguments that are no tuple", name("collections", "OrderedDict") + b"]R", "not a tuple"),
    ("a bytearray of a size", call("builtins", "bytearray", 10**14), "the data is a int"),
    ("a set of a set that has none", call("builtins", "set", [[]]), "unhashable"),
    ("another codec", call("_codecs", "encode", "x", "zlib"), "the encoding is 'zlib'"),
    ("a number to encode", call("_codecs", "encode", 3, "latin1"), "the text is a int"),
    ("a factory that runs", call("collections", "defaultdict", name("torch", "Size")),
     "a defaultdict of"),
    ("pairs of three", call("collections", "OrderedDict", [[1, 2, 3]]), "another length than 2"),
    ("counts of a list", call("collections", "Counter", [1]), "the counts is a list"),
    ("a deque of a negative length", call("collections", "deque", (), -1), "length of a deque"),
    ("a complex number of texts", call("builtins", "complex", "1", "2"), "no numbers"),
    ("named arguments", name("collections", "OrderedDict") + b")}" + value("x") + b"Ns\x92",
     "takes no named arguments"),
    ("a size of texts", call("torch", "Size", ("a",)), "expected integers"),
    ("another layout", call("torch.serialization", "_get_layout", "torch.sparse_coo"),
     "only strided exists"),
    ("a device of a number", call("torch", "device", 3), "the device is a int"),
    ("objects of numpy", call("numpy", "dtype", "O8", False, True), "expected numbers or texts"),
    ("another class of arrays", call("numpy.core.multiarray", "_reconstruct",
                                     name("collections", "OrderedDict"), (0,), "b"), "ndarray"),
    ("an array that is large before its data", call(
        "numpy.core.multiarray", "_reconstruct", name("numpy", "ndarray"), (10**12,), "b"),
     r"expected ndarray and \(0,\)"),
    ("a number of numpy without data", call(
        "numpy.core.multiarray", "scalar", call("numpy", "dtype", "f8", False, True),
        call("_codecs", "encode", "x", "latin1")), "other data than it needs"),
    ("a state of an array", call("numpy.core.multiarray", "_reconstruct", name("numpy", "ndarray"),
                                 (0,), "b") + value((1, (10**9,), call(
                                     "numpy", "dtype", "f8", False, True), False, "")) + BUILD,
     "other data than"),
    ("an absent tensor", call("torch._utils", "_rebuild_sparse_tensor", 1, 2),
     "a sparse tensor .* does not exist here"),
    ("an absent dtype", name("torch", "complex64"), "the dtype complex64 .* does not exist"),
]

STATES = [
    ("a class", name("collections", "OrderedDict") + b"}" + value("x") + b"Nsb", "changes .* itse"),
    ("a function", name("torch._utils", "_rebuild_tensor_v2") + b"}b", "changes .* itself"),
    ("a dtype", name("torch", "float32") + b"}b", "changes .* itself"),
    ("a method that is hidden", NO_HOOKS + b"}" + value("items") + b"Nsb",
     "sets the attribute 'items'"),
    ("the class of an object", NO_HOOKS + b"}" + value("__class__") + b"Nsb", "'__class__'"),
    ("attributes without a name", NO_HOOKS + b"}" + value(3) + b"Nsb", "expected a text"),
    ("attributes that are no dictionary", NO_HOOKS + value([1]) + BUILD, "attributes are a list"),
    ("the gradient of a tensor", tensor() + b"}" + value("grad") + b"Nsb", "attribute 'grad'"),
    ("a list", b"]}b", "a list takes no attributes"),
    ("a number", value(3) + b"}b", "a int takes no attributes"),
    ("items of a number", value(3) + value(1) + b"a", "a int takes no items"),
    ("keys of a list", b"]" + value(1) + value(2) + b"s", "a list takes no keys"),
    ("a set that is a list", b"](\x90", "a list is no set"),
    ("a key that has no hash", b"}]Ns", "unhashable"),
]

TENSORS = [
    ("the storage is none", tensor(value(None)), "the storage is a NoneType"),
    ("the storage is a class", tensor(name("torch", "FloatStorage")), "the storage is a"),
    ("the offset is a text", tensor(offset="0"), "all of them integers"),
    ("the offset is a truth", tensor(offset=True), "all of them integers"),
    ("the size is a number", tensor(size=4), "expected tuples"),
    ("the size has texts", tensor(size=("4",)), "all of them integers"),
    ("the stride is a list", tensor(stride=[1]), "expected tuples"),
    ("a stride is missing", tensor(stride=()), "one stride per dimension"),
    ("requires_grad is a number", tensor(requires_grad=1), "requires_grad is a int"),
    ("integers require grad", tensor(storage(2, kind="LongStorage"), size=(2,),
                                     requires_grad=True), "floating"),
    ("the hooks are there", tensor(hooks=[1]), "has hooks"),
    ("an argument is missing", call("torch._utils", "_rebuild_tensor_v2", storage()), "argument"),
    ("the size is negative", tensor(size=(-4,)), "reach beyond"),
    ("the stride is negative", tensor(offset=3, stride=(-1,)), "reach beyond"),
    ("the offset is negative", tensor(offset=-1), "reach beyond"),
    ("the end is beyond", tensor(offset=1), "reach beyond the 4 elements"),
    ("the stride is beyond", tensor(size=(2,), stride=(2**62,)), "reach beyond"),
    ("the size is enormous", tensor(size=(2**62, 2**62), stride=(0, 0)), "reach beyond"),
    ("the offset has 64 bits", tensor(offset=2**63, size=(0,)), "reach beyond"),
    ("too many dimensions", tensor(size=(1,) * 100, stride=(1,) * 100), "100 dimensions"),
    ("a parameter of a list", call("torch._utils", "_rebuild_parameter", [1], True, NO_HOOKS),
     "the data of the parameter is a list"),
    ("attributes of a parameter", call("torch._utils", "_rebuild_parameter_with_state", tensor(),
                                       True, NO_HOOKS, {1: 2}.items().__len__()), "attributes are"),
    ("a maker that is none", call("torch._tensor", "_rebuild_from_type_v2", name("torch", "Size"),
                                  name("torch", "Tensor"), (), None), "makes no tensor"),
    ("a class that is none", call(
        "torch._tensor", "_rebuild_from_type_v2", name("torch._utils", "_rebuild_tensor_v2"),
        name("collections", "OrderedDict"), (storage(), 0, (4,), (1,), False, NO_HOOKS), None),
     "is no class of tensors"),
    ("a dtype that is none", call("torch._utils", "_rebuild_tensor_v3", value(
        ("storage", name("torch", "UntypedStorage"), "0", "cpu", 16)) + b"Q", 0, (4,), (1,), False,
        NO_HOOKS, "float32"), "the dtype is a str"),
]

REFERENCES = [
    ("a text", value("0") + b"Q", "is no reference to memory"),
    ("a short tuple", value(("storage", "0")) + b"Q", "is no reference to memory"),
    ("a class that is none", value(("storage", name("collections", "OrderedDict"), "0", "cpu", 4))
     + b"Q", "has other things than"),
    ("a number for the name", value(("storage", name("torch", "FloatStorage"), 0, "cpu", 4))
     + b"Q", "has other things than"),
    ("a negative size", storage(-4), "has other things than"),
    ("more than there is", storage(5), "has 16 bytes, and the file says 20"),
    ("an enormous size", storage(2**60), "and the file says 4611686018427387904"),
    ("less than there is", storage(2), "and the file says 8"),
    ("another record", storage(key="1"), "has no record 'data/1'"),
    ("a record above", storage(key="../data.pkl"), "has no record"),
    ("an absent kind", storage(kind="ComplexFloatStorage"), "does not exist here"),
    ("a quantised kind", storage(kind="QInt8Storage"), "does not exist here"),
]

INSTRUCTIONS = [
    ("INST", b"(ios\nsystem\n", "instruction INST"),
    ("OBJ", b"(" + name("collections", "OrderedDict") + b"o", "instruction OBJ"),
    ("EXT1", b"\x82\x01", "instruction EXT1"), ("EXT2", b"\x83\x01\0", "instruction EXT2"),
    ("EXT4", b"\x84\1\0\0\0", "instruction EXT4"),
    ("NEXT_BUFFER", b"\x97", "instruction NEXT_BUFFER"),
    ("READONLY_BUFFER", b"N\x98", "instruction READONLY_BUFFER"),
    ("an unknown one", b"\xff", "which is no instruction"),
    ("a protocol of tomorrow", b"\x80\x63", "the protocol is 99"),
    ("a text without its bytes", b"X\xff\xff\xff\x7f", "claims 2147483647 bytes"),
    ("bytes without their bytes", b"\x8e" + b"\xff" * 7 + b"\x7f", "it claims"),
    ("a bytearray without its bytes", b"\x96" + b"\xff" * 7 + b"\x0f", "it claims"),
    ("a negative length", b"\x8b\xff\xff\xff\xff", "it claims -1 bytes"),
    ("a frame without its bytes", b"\x95" + b"\xff" * 8, "a frame of"),
    ("a very long number", b"L" + b"9" * 100_000 + b"L\n", "an integer of 100000 digits"),
    ("a line without an end", b"I123", "a line without an end"),
    ("a name in two halves", b"cos\n", "a line without an end"),
    ("a number for a name", value(1) + value(2) + b"\x93", "the name of a class is no text"),
    ("a value that was not stored", b"h\x07", "nothing is stored under 7"),
    ("a value far away", b"j\xff\xff\xff\xff", "nothing is stored under"),
    ("a place far away", b"Nr\xff\xff\xff\xff0", "the stack is empty"),
    ("a key without a value", b"}(" + value(1) + b"u", "a key without a value"),
    ("wrong text", b"X\x01\0\0\0\xff", "UnicodeDecodeError"),
    ("marks only", b"(" * MANY, "the stack is empty"),
]

LARGE = [
    ("a key as large as the world", b"}" + doubled(60) + b"Ns", "a key is nested too deeply"),
    ("a key without an end", b"})" + b"\x85" * MANY + b"Ns", "a key is nested too deeply"),
    ("a set of such a key", b"\x8f(" + doubled(60) + b"\x90", "a key is nested too deeply"),
    ("a frozenset of it", b"(" + doubled(60) + b"\x91", "a key is nested too deeply"),
    ("an ordered dictionary of it", call("collections", "OrderedDict", [[doubled(60), 1]]),
     "a key is nested too deeply"),
    ("keys of one hash", flood(20_000), "many different keys have one hash"),
    ("nested deques", b"N" + (b"q\0" + name("collections", "deque") + b"(]h\0at" + b"R") * 20_000,
     "more than 10000 objects"),
    ("one text copied again and again",
     value("x" * 10_000) + b"q\0" + value("latin1") + b"q\1" + name("_codecs", "encode") + b"q\2"
     + b"h\2h\0h\1\x86R0" * 20_000, "more copies of its data"),
    ("one list copied again and again",
     value(list(range(2_000))) + b"q\0" + name("builtins", "set") + b"q\1"
     + b"h\1h\0\x85R0" * 20_000,
     "more copies of its data"),
]


def short(cases):
    return pytest.mark.parametrize("program, text", [case[1:] for case in cases],
                                   ids=[case[0] for case in cases])


@short(REFUSED_CALLS + STATES + TENSORS + REFERENCES + INSTRUCTIONS + LARGE)
def test_what_no_file_of_tensors_has_is_one_sentence(program, text):
    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(pickle.UnpicklingError, match=text) as caught:
            fg.load(io.BytesIO(archive(pickle_of(program))))
    assert str(caught.value).startswith("load: ") and len(str(caught.value)) < 600
    assert time.monotonic() - start < 5


def test_there_are_enough_of_them():
    assert len(CODE + REFUSED_CALLS + STATES + TENSORS + REFERENCES + INSTRUCTIONS + LARGE) > 100


@pytest.mark.parametrize("code", sorted({*b"0eatlduis12RQb\x81\x85\x86\x87\x90\x91\x92\x93q"}))
def test_instructions_without_their_values_are_one_sentence(code):
    tail = b"\0.." if code == ord("q") else b"."
    with pytest.raises(pickle.UnpicklingError, match="load: the file's pickle"):
        fg.load(io.BytesIO(archive(PROTO + bytes([code]) + tail)))


@pytest.mark.parametrize("program", [b"", b"N", PROTO, b"." * 3, b"\x80"])
def test_pickles_without_an_object_are_one_sentence(program):
    with pytest.raises(pickle.UnpicklingError, match="load: the file's pickle"):
        fg.load(io.BytesIO(archive(program)))


def test_what_is_deep_but_plain_is_read():
    thing = fg.load(io.BytesIO(archive(pickle_of(b")" + b"\x85" * MANY))))
    for _ in range(10):
        thing, = thing
    nested = fg.load(io.BytesIO(archive(pickle_of(b"]" * MANY + b"a" * (MANY - 1)))))
    assert nested and nested[0]


class Config:
    def __init__(self, value=None):
        self.value = value


class Strict:
    def __setstate__(self, state):
        self.value = state["value"]


class Slots:
    __slots__ = ("value",)


@pytest.mark.parametrize("kind, state, text", [
    (Config, value([1]), "attribute|update|sequence|dict"), (Config, value(3), "int"),
    (Config, value((1, 2, 3)), "TypeError|ValueError"), (Strict, value(3), "TypeError"),
    (Strict, b"}", "KeyError"), (Slots, b"N}" + value("other") + b"Ns\x86", "AttributeError"),
], ids=str)
def test_bad_states_of_trusted_classes_are_one_sentence(kind, state, text):
    program = name(kind.__module__, kind.__qualname__) + b")\x81" + state + BUILD
    with serialization.safe_globals([kind]):
        with pytest.raises(pickle.UnpicklingError, match=text):
            fg.load(io.BytesIO(archive(pickle_of(program))))


def test_a_trusted_class_is_not_changed_and_its_constructor_may_fail():
    with serialization.safe_globals([Config]):
        itself = name(Config.__module__, "Config") + b"}" + value("x") + value(1) + b"sb"
        with pytest.raises(pickle.UnpicklingError, match="changes .* itself"):
            fg.load(io.BytesIO(archive(pickle_of(itself))))
        with pytest.raises(pickle.UnpicklingError, match="TypeError"):
            fg.load(io.BytesIO(archive(pickle_of(call(Config.__module__, "Config", 1, 2, 3)))))
    assert not hasattr(Config, "x")


@pytest.mark.parametrize("program", [b"ios\nsystem\n", call("os", "system", "touch tricked")])
def test_a_safetensors_file_with_such_a_pickle_is_refused(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = fg.tensor(list(pickle_of(b"(" + program)), dtype=fg.uint8)
    file = fg.safetensors.save({"it": data}, {"foregrad.pickle": "it"})
    with pytest.raises(pickle.UnpicklingError):
        fg.load(io.BytesIO(file))
    assert not (tmp_path / "tricked").exists()

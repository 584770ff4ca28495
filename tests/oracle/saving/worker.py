"""Writes files under one library, reads them, or lets it refuse: a line of JSON per case.

usage: worker.py torch|foregrad write|refuse FOLDER, worker.py torch|foregrad read FOLDER WRITER
"""
import collections
import io
import json
import os
import pickle
import sys
import warnings

import numpy

DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bool",
          "bfloat16"]
LOADS_WHOLE = ("module ", "numpy", "default dictionary", "deque", "frozen set", "protocol 3")


def modules(nn):
    return [nn.Linear(3, 2), nn.Conv2d(1, 2, 3), nn.ConvTranspose2d(1, 2, 3), nn.BatchNorm2d(2),
            nn.InstanceNorm1d(2, affine=True), nn.LayerNorm(3), nn.GroupNorm(1, 2),
            nn.RMSNorm(3), nn.Embedding(4, 2), nn.MultiheadAttention(4, 2), nn.Dropout(),
            nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Sequential(nn.Linear(2, 1))),
            nn.ModuleList([nn.Linear(1, 1)]), nn.ModuleDict({"a": nn.Linear(1, 1)})]


def fixed(lib, module):
    """The module with the same values in both libraries."""
    draw = numpy.random.default_rng(1)
    with lib.no_grad():
        for tensor in module.state_dict().values():
            tensor.copy_(lib.tensor(draw.normal(size=tuple(tensor.shape))).to(tensor.dtype))
    return module


def trained(lib, name):
    net = fixed(lib, lib.nn.Linear(3, 2))
    options = {"momentum": 0.9} if name == "SGD" else {}
    optimizer = getattr(lib.optim, name)(net.parameters(), lr=0.25, **options)
    for _ in range(2):
        optimizer.zero_grad()
        net(lib.ones(2, 3)).pow(2).sum().backward()
        optimizer.step()
    return optimizer


def schedules(lib):
    from_lib = lib.optim.lr_scheduler

    def optimizer():
        return lib.optim.SGD(lib.nn.Linear(1, 1).parameters(), lr=0.5, momentum=0.9)

    return {"StepLR": from_lib.StepLR(optimizer(), 2),
            "CosineAnnealingLR": from_lib.CosineAnnealingLR(optimizer(), 5),
            "ExponentialLR": from_lib.ExponentialLR(optimizer(), 0.5)}


def tensors(lib):
    base = lib.arange(12.0).view(3, 4)
    marked, named = lib.ones(2), lib.nn.Parameter(lib.ones(2))
    marked.note, named.note = {"a": [1]}, "kept"
    yield "views", [base, base[1:, ::2], base.t(), base[0].expand(2, 4), base[:, 1]]
    yield "one tensor twice", [base, base]
    yield "large strides", lib.arange(100.0)[3::7]
    yield "empty", [lib.zeros(0), lib.zeros(0, 3), lib.zeros(2, 0, 3)]
    yield "number", lib.tensor(2.5)
    yield "requires grad", [lib.ones(2, requires_grad=True), lib.ones(2, requires_grad=True) * 2]
    yield "parameters", [lib.nn.Parameter(lib.ones(2)),
                         lib.nn.Parameter(lib.ones(2), requires_grad=False), named]
    yield "attributes", marked
    yield "parameter over shared memory", [base, lib.nn.Parameter(base[1])]
    yield "odd numbers", lib.tensor([float("nan"), float("inf"), -0.0, 1e-45])
    for name in DTYPES:
        yield f"dtype {name}", lib.tensor([[0, 1], [1, 1]]).to(getattr(lib, name))


def plain(lib):
    yield "descriptions", [lib.Size([2, 3]), lib.float32, lib.bfloat16, lib.int64,
                           lib.device("cpu"), lib.strided, lib.float32]
    yield "texts and bytes", ["text", "\u00fc\u4e2d\n", b"bytes", bytearray(b"more"), ""]
    yield "numbers", [0, -1, 255, 2**31, -2**63, 2**200, 1.5, -0.0, float("inf"), True, None, 1j]
    yield "containers", [(), (1,), (1, (2, [3])), {"a": {1: 2}}, {1, 2}, [[]],
                         collections.OrderedDict(b=1, a=2), collections.Counter("aab")]
    yield "names", [{"storage": "cpu"}, "ctorch\nFloatStorage\n", "cforegrad\nfloat32\nq\x01Q"]
    yield "state of random numbers", lib.zeros(16, dtype=lib.uint8)
    yield "default dictionary", collections.defaultdict(list, a=[1])
    yield "deque", collections.deque([1, 2], 5)
    yield "frozen set", frozenset([3])
    yield "numpy", [numpy.arange(6).reshape(2, 3), numpy.float64(2.5), numpy.array([True]),
                    numpy.arange(6.0).reshape(2, 3).T]


def things(lib):
    """(case, object) of everything that is written."""
    yield from tensors(lib)
    yield from plain(lib)
    for module in modules(lib.nn):
        yield f"state of {type(module).__name__}", fixed(lib, module).state_dict()
    for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad"):
        yield f"optimiser {name}", trained(lib, name).state_dict()
    for name, schedule in schedules(lib).items():
        yield f"schedule {name}", schedule.state_dict()
    yield "checkpoint", {"net": fixed(lib, modules(lib.nn)[3]).state_dict(), "epoch": 3,
                         "optimiser": trained(lib, "AdamW").state_dict(), "args": {"lr": 0.1}}


def formats(lib):
    """(case, object, options of save)."""
    for case, thing in things(lib):
        yield case, thing, {}
        yield f"{case}, as a stream", thing, {"_use_new_zipfile_serialization": False}
    for module in modules(lib.nn):
        yield f"module {type(module).__name__}", fixed(lib, module).eval(), {}
    yield "protocol 3", [lib.ones(2), lib.float32, b"x"], {"pickle_protocol": 3}


class Description:
    """A value as JSON, the same for equal values of both libraries."""

    def __init__(self, lib):
        self.lib, self.memory = lib, {}

    def tensor(self, value):
        storage = value.untyped_storage()
        place = self.memory.setdefault(storage.data_ptr(), len(self.memory)) \
            if storage.nbytes() else "nothing"
        kind = "Parameter" if isinstance(value, self.lib.nn.Parameter) else "Tensor"
        return [kind, str(value.dtype).split(".")[1], list(value.shape), list(value.stride()),
                value.storage_offset(), storage.nbytes(), value.requires_grad, place,
                repr(value.detach().tolist()), value.is_leaf or "made",
                self.of(dict(value.__dict__)) if value.__dict__ else None]

    def of(self, value):
        if isinstance(value, self.lib.Tensor):
            return self.tensor(value)
        if isinstance(value, dict):
            more = getattr(value, "__dict__", {})
            return [type(value).__name__, [[repr(key), self.of(each)] for key, each in
                                           value.items()], [[key, self.of(each)] for key, each
                                                            in more.items()]]
        if isinstance(value, self.lib.nn.Module):
            return [type(value).__name__, value.training, self.of(dict(value.state_dict()))]
        if isinstance(value, numpy.ndarray):
            return ["array", str(value.dtype), list(value.shape), value.tolist()]
        if isinstance(value, (list, tuple, collections.deque)):
            return [type(value).__name__, [self.of(each) for each in value]]
        if isinstance(value, (set, frozenset)):
            return [type(value).__name__, sorted(map(repr, value))]
        return [type(value).__name__, repr(value).replace("foregrad.", "torch.")]


def leaves(described):
    """Descriptions in which a tensor that was computed is a leaf, as it is once it was read."""
    return json.loads(json.dumps(described).replace('"made"', "true"))


def file_of(folder, library, case):
    return os.path.join(folder, f"{library} {case}.pt")


def write(lib, library, folder):
    for case, thing, options in formats(lib):
        lib.save(thing, file_of(folder, library, case), **options)
        yield case, leaves(Description(lib).of(thing))


def read(lib, library, folder, writer):
    for case, _, _ in formats(lib):
        if case.startswith("module ") and (library, writer) == ("torch", "foregrad"):
            continue
        whole = case.startswith(LOADS_WHOLE)
        try:
            thing = lib.load(file_of(folder, writer, case), weights_only=not whole)
            yield case, Description(lib).of(thing)
        except Exception as error:
            yield case, f"{type(error).__name__}: {error}"


class Config:
    pass


def refusals(lib, folder):
    """(case, call) of what both libraries refuse."""
    path = os.path.join(folder, "refused.pt")
    lib.save(lib.ones(2), path)

    def again(thing, **options):
        stream = io.BytesIO()
        lib.save(thing, stream)
        stream.seek(0)
        return lambda: lib.load(stream, **options)

    yield "a whole module", again(lib.nn.Linear(1, 1))
    yield "a class of one's own", again(Config())
    yield "a function", again(print)
    yield "a file that is not there", lambda: lib.load(os.path.join(folder, "none"))
    yield "an empty file", lambda: lib.load(io.BytesIO())
    yield "a number for a file", lambda: lib.load(3)
    yield "a number to write to", lambda: lib.save(1, 3)
    yield "a folder that is not there", lambda: lib.save(1, os.path.join(folder, "none", "x"))
    yield "no module that pickles", lambda: lib.save(1, io.BytesIO(), None)
    yield "a module that pickles", lambda: lib.load(path, pickle_module=pickle, weights_only=False)
    yield "a lambda", lambda: lib.save(lambda: 1, io.BytesIO())
    yield "a protocol of tomorrow", lambda: lib.save(1, io.BytesIO(), pickle_protocol=9)
    yield "mmap of a file that is open", lambda: lib.load(open(path, "rb"), mmap=True)
    for where in ("cuda", "moon", 3, {"cpu": "cuda:0"}, {"cpu": "moon"}):
        yield f"map_location {where}", lambda where=where: lib.load(path, map_location=where)
    whole = open(path, "rb").read()
    yield "a file that is cut off", lambda: lib.load(io.BytesIO(whole[:-100]))
    yield "no class to trust", lambda: lib.serialization.add_safe_globals(3)
    yield "the listed names", lambda: lib.serialization.get_unsafe_globals_in_checkpoint(path)


def kind_of_refusal(call):
    try:
        return repr(call()).replace("foregrad.", "torch.")
    except Exception as error:
        kind = type(error).__name__
        # A lambda is refused by Python's pickler, whose error differs between its versions.
        return "PicklingError" if "Can't pickle" in str(error) else kind


def main():
    warnings.simplefilter("ignore")
    library, mode, folder = sys.argv[1:4]
    lib = __import__(library)
    __import__(f"{library}.optim")
    lib.manual_seed(0)
    if mode == "write":
        cases = write(lib, library, folder)
    elif mode == "read":
        cases = read(lib, library, folder, sys.argv[4])
    else:
        cases = ((case, kind_of_refusal(call)) for case, call in refusals(lib, folder))
    for case, found in cases:
        print(json.dumps({"case": case, "found": found}))


if __name__ == "__main__":
    main()

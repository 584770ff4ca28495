"""From tensors to Python and back: numbers, lists, arrays, text, copies and pickles."""
import copy
import pickle

import numpy as np

from observe import program, raises, register, see, see_all

DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8",
          "bool")


@program
def item(torch, draw):
    for dtype in DTYPES:
        raises(dtype, lambda: draw.tensor(dtype=dtype).item())
        raises(dtype + " one", lambda: draw.tensor(1, 1, dtype=dtype).item())
    raises("two", lambda: draw.tensor(2).item())
    raises("empty", lambda: draw.tensor(0).item())
    raises("grad", lambda: draw.tensor(grad=True).item())


@program
def tolist(torch, draw):
    for dtype in DTYPES:
        raises(dtype, lambda: draw.tensor(2, 2, dtype=dtype).tolist())
    for shape in ((), (0,), (2, 0), (0, 2), (1, 1, 2)):
        raises(str(shape), lambda: draw.tensor(*shape).tolist())
    raises("transposed", lambda: draw.tensor(2, 3).t().tolist())
    raises("grad", lambda: draw.tensor(2, grad=True).tolist())


@program
def to_numbers(torch, draw):
    for dtype in DTYPES:
        t = draw.tensor(1, dtype=dtype)
        for function in (int, float, bool, complex):
            raises(f"{function.__name__} {dtype}", lambda: function(t))
    for function in (int, float, bool, complex):
        raises(f"{function.__name__} of two", lambda: function(draw.tensor(2)))
        raises(f"{function.__name__} of none", lambda: function(draw.tensor(0)))
        raises(f"{function.__name__} of grad", lambda: function(draw.tensor(grad=True)))
    raises("nan to int", lambda: int(torch.tensor(float("nan"))))
    raises("inf to int", lambda: int(torch.tensor(float("inf"))))


@program
def as_index(torch, draw):
    raises("index", lambda: [1, 2, 3][torch.tensor(1)])
    raises("float index", lambda: [1, 2, 3][torch.tensor(1.0)])
    raises("vector index", lambda: [1, 2, 3][torch.tensor([1])])
    raises("range", lambda: list(range(torch.tensor(3))))
    raises("repeat", lambda: "ab" * torch.tensor(2))
    raises("bool index", lambda: [1, 2][torch.tensor(True)])


@program
def truth(torch, draw):
    see("values", [bool(torch.tensor(v)) for v in (0, 1, 0.0, 0.5, True, float("nan"))])
    raises("if", lambda: 1 if draw.tensor(2) else 2)
    raises("not", lambda: not torch.tensor([0]))
    raises("and", lambda: torch.tensor(1) and torch.tensor(0))
    raises("empty", lambda: bool(torch.tensor([])))


@program
def length_and_iteration(torch, draw):
    x = draw.tensor(3, 2, grad=True)
    raises("len", lambda: len(x))
    raises("len of zero-dim", lambda: len(x.sum()))
    raises("rows", lambda: list(x))
    raises("iter zero-dim", lambda: list(x.sum()))
    raises("unpack", lambda: [*x[0]])
    raises("too few", lambda: unpack(x))
    raises("enumerate", lambda: [i for i, _ in enumerate(x)])
    raises("reversed", lambda: reversed(x))
    raises("zip", lambda: [a * b for a, b in zip(x, x)])
    raises("empty", lambda: list(draw.tensor(0, 2)))
    raises("max", lambda: max(x[:, 0].detach()))
    raises("sum", lambda: sum(x))


def unpack(x):
    a, b = x
    return a, b


@program
def contains(torch, draw):
    x = torch.tensor([1.0, 2.0, 3.0])
    for value in (2, 2.5, torch.tensor(1.0), torch.tensor([1.0, 9.0]), "a", None, [1.0], True):
        raises(str(value), lambda: value in x)
    raises("list of tensors", lambda: x in [x])


def numpy_of(dtype):
    def run(torch, draw):
        t = draw.tensor(2, 3, dtype=dtype)
        for label, action in (
                ("numpy", lambda: t.numpy()), ("array", lambda: np.array(t)),
                ("asarray", lambda: np.asarray(t)), ("transposed", lambda: t.t().numpy()),
                ("strides", lambda: t.t().numpy().strides), ("zero-dim", lambda: t[0, 0].numpy()),
                ("cast", lambda: np.asarray(t, dtype=np.float32)), ("empty", lambda: t[:0].numpy()),
                ("sin", lambda: np.sin(t)), ("sum", lambda: np.sum(t)), ("back",
                lambda: torch.tensor(
                    t.numpy())), ("dlpack", lambda: np.from_dlpack(t)),
                ("from_numpy", lambda: torch.from_numpy(t.numpy())),
                ("add", lambda: t.numpy() + 1), ("stack", lambda: np.stack([t, t]).shape)):
            raises(label, action)

    return run


for dtype_name in DTYPES:
    register(__name__, "numpy_" + dtype_name, numpy_of(dtype_name))


@program
def numpy_shares(torch, draw):
    t = draw.tensor(3)
    a = t.numpy()
    a[0] = 9
    see("t", t)
    t[1] = 8
    see("a", a)
    x = draw.tensor(2, grad=True)
    raises("grad", lambda: x.numpy())
    raises("force", lambda: x.numpy(force=True))
    raises("array of grad", lambda: np.array(x))
    raises("detach", lambda: x.detach().numpy())


@program
def formats(torch, draw):
    x = torch.tensor(3.14159)
    for spec in ("", ".2f", "8.3f", "d", "e", ">10", "x"):
        raises("float " + spec, lambda: format(x, spec))
        raises("int " + spec, lambda: format(torch.tensor(42), spec))
        raises("vector " + spec, lambda: format(torch.tensor([1.0]), spec))
    see("f-string", f"{x} {x:.1f} {torch.tensor(True)}")
    see("percent", "%.3f %d" % (x, torch.tensor(3)))
    raises("grad", lambda: f"{torch.tensor(1.5, requires_grad=True)}")
    raises("grad with spec", lambda: f"{torch.tensor(1.5, requires_grad=True):.2f}")
    see("str format", "{:.2f}".format(x))


PRINTED = {
    "floats": "T([1.0, 2.5, -3.25])", "whole": "T([1.0, 2.0])", "large": "T([1e10, 1.0])",
    "small": "T([1e-10, 1.0])", "small_only": "T([1e-5, 2e-5])", "wide": "T([123456.0, 0.001])",
    "specials": "T([float('nan'), float('inf'), -float('inf'), 1.0])", "ints": "T([1, -20, 300])",
    "bools": "T([True, False])", "zero_dim": "T(1.5)", "zero_dim_int": "T(7)", "empty": "T([])",
    "empty_2d": "torch.zeros(2, 0)", "matrix": "T([[1.0, 2.0], [3.0, 4.0]])",
    "cube": "torch.arange(24).reshape(2, 3, 4)", "double": "T([1.5], dtype=torch.float64)",
    "half": "T([1.5, 2.25], dtype=torch.float16)", "bfloat": "T([1.5], dtype=torch.bfloat16)",
    "int32": "T([1], dtype=torch.int32)", "uint8": "T([1], dtype=torch.uint8)",
    "grad": "T([1.0], requires_grad=True)", "history": "T([1.0], requires_grad=True) * 2",
    "view_history": "T([1.0, 2.0], requires_grad=True)[0:1]", "long": "torch.arange(2000)",
    "long_floats": "torch.arange(1500.0)", "row": "torch.arange(40)", "big": "torch.ones(40, 40)",
    "floats_row": "torch.arange(30.0) / 7", "negative_zero": "T([-0.0, 0.0])",
    "zero_dim_grad": "T(2.0, requires_grad=True).sin()", "huge": "T([1e38, 1e-38])",
    "empty_int": "torch.zeros(0, 3, dtype=torch.int64)", "exact": "T([0.1, 0.12345678])",
    "four_dims": "torch.ones(1, 2, 1, 2)", "nan_only": "T([float('nan')])",
    "digits": "T([1000.5, 2.0])",
    "hundred_thousand": "T([100000.0, 1.0])", "million": "T([1000000.0])",
    "small_big": "T([1e-3, 1e3])",
    "dtype": "torch.float32", "size": "torch.Size([2, 3])", "shape": "torch.ones(2, 3).shape",
    "device": "torch.device('cpu')", "type": "torch.ones(1).type()",
    "layout": "torch.ones(1).layout",
    "class": "type(torch.ones(1))",
    "long_history": "(torch.ones(12, requires_grad=True) * 1.23456)",
    "max": "torch.ones(2, 2).max(0)", "finfo": "torch.finfo(torch.float32)",
    "iinfo": "torch.iinfo(torch.int8)", "node": "T([1.0], requires_grad=True).sin().grad_fn.name()",
    "generator": "torch.Generator().device", "parameter": "torch.nn.Parameter(torch.ones(2))"}


def printed(text):
    def run(torch, draw):
        scope = {"torch": torch, "T": torch.tensor}
        raises("repr", lambda: repr(eval(text, scope)))
        raises("str", lambda: str(eval(text, scope)))

    return run


for printed_name, printed_text in PRINTED.items():
    register(__name__, "print_" + printed_name, printed(printed_text))


@program
def pickles(torch, draw):
    x = draw.tensor(2, 3, grad=True)
    for protocol in (2, 4, 5):
        see("leaf", pickle.loads(pickle.dumps(x, protocol)))
    for label, t in (("transposed", x.detach().t()), ("stepped", x.detach()[:, ::2]),
                     ("zero-dim", x.detach().sum()), ("empty", x.detach()[:0])):
        raises(label, lambda: pickle.loads(pickle.dumps(t)))
    for dtype in DTYPES:
        raises(dtype, lambda: pickle.loads(pickle.dumps(draw.tensor(2, dtype=dtype))))
    raises("history", lambda: pickle.loads(pickle.dumps(x * 2)))
    raises("parameter", lambda: pickle.loads(pickle.dumps(torch.nn.Parameter(draw.tensor(2)))))
    raises("dtype", lambda: pickle.loads(pickle.dumps(torch.float32)) is torch.float32)
    raises("size", lambda: pickle.loads(pickle.dumps(x.shape)))
    raises("list", lambda: pickle.loads(pickle.dumps({"a": [x, x]})))
    raises("device", lambda: pickle.loads(pickle.dumps(torch.device("cpu"))))


@program
def copies(torch, draw):
    x = draw.tensor(2, 3, grad=True)
    x.sum().backward()
    y = copy.deepcopy(x)
    see_all(y=y, grad=y.grad)
    y.data.zero_()
    see("x", x)
    raises("history", lambda: copy.deepcopy(x * 2))
    raises("copy", lambda: copy.copy(x))
    raises("copy of history", lambda: copy.copy(x * 2))
    raises("transposed", lambda: copy.deepcopy(x.detach().t()))
    both = copy.deepcopy([x, x])
    see("shared", both[0] is both[1])
    v = draw.tensor(4)
    views = copy.deepcopy([v, v[0:2]])
    views[0].zero_()
    see("views stay views", views)
    x.note = "kept"
    see("attribute", copy.deepcopy(x).note)


@program
def casts(torch, draw):
    x = draw.tensor(3, grad=True)
    for name in ("float", "double", "half", "bfloat16", "int", "long", "short", "char", "byte",
    "bool"):
        raises(name, lambda: getattr(x, name)())
        raises("to " + name, lambda: x.to(getattr(torch, name)) if hasattr(torch, name) else None)
    see("same", (x.to(torch.float64) is x, x.double() is x, x.to("cpu") is x))
    raises("copy", lambda: x.to(torch.float64, copy=True) is x)
    raises("other", lambda: x.to(draw.tensor(1, dtype="float32")))
    raises("string", lambda: x.to("float32"))
    raises("type", lambda: x.type(torch.float32))
    raises("type string", lambda: x.type("torch.FloatTensor").dtype)
    raises("type_as", lambda: x.type_as(draw.tensor(1, dtype="int64")))
    raises("number", lambda: x.to(1))
    raises("nothing", lambda: x.to())
    raises("device and dtype", lambda: x.to("cpu", torch.float32))
    raises("large to int8", lambda: torch.tensor([300, -129]).to(torch.int8))
    raises("nan to bool", lambda: torch.tensor([float("nan"), 0.0]).bool())


@program
def dtype_properties(torch, draw):
    for dtype in DTYPES:
        d = getattr(torch, dtype)
        see(dtype, (str(d), repr(d), d.is_floating_point, d.is_signed, d.itemsize))
        raises("finfo " + dtype, lambda: [getattr(torch.finfo(d), n) for n in (
            "max", "eps", "bits")])
        raises("iinfo " + dtype, lambda: [torch.iinfo(d).max, torch.iinfo(d).min])
        for other in DTYPES:
            see(f"{dtype} {other}", torch.promote_types(d, getattr(torch, other)))
            see("cast", torch.can_cast(d, getattr(torch, other)))
    raises("result_type", lambda: torch.result_type(torch.tensor([1]), 1.5))
    raises("call", lambda: torch.float32())
    raises("is_tensor", lambda: (torch.is_tensor(1), torch.is_tensor(torch.ones(1))))


@program
def sizes(torch, draw):
    s = draw.tensor(2, 3).shape
    see_all(size=s, tuple=tuple(s), first=s[0], last=s[1:], equal=s == (2, 3), length=len(s))
    see("sum", s + (4,))
    see("times", s * 2)
    raises("numel", lambda: s.numel())
    raises("make", lambda: torch.Size([1, 2]))
    raises("float", lambda: torch.Size([1.5]))
    raises("hash", lambda: hash(s) == hash((2, 3)))
    see("instance", isinstance(s, tuple))


@program
def attributes(torch, draw):
    x = draw.tensor(2, 3, grad=True)
    for name in ("dtype", "device", "layout", "shape", "ndim", "itemsize", "nbytes", "is_leaf",
                 "requires_grad", "grad", "grad_fn", "T", "mT", "H", "real", "is_cuda", "is_sparse",
                 "is_quantized", "is_meta", "name", "names", "output_nr", "retains_grad",
                 "volatile"):
        raises(name, lambda: getattr(x, name))
    raises("unknown", lambda: x.unknown_name)
    raises("set shape", lambda: setattr(x, "shape", (3, 2)))
    raises("set dtype", lambda: setattr(x, "dtype", torch.float32))
    x.own = 5
    see("own", x.own)
    raises("set data", lambda: setattr(x, "data", draw.tensor(4)))
    see("x", x)

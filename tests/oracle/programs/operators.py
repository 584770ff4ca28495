"""Python's operators on tensors and numbers, both ways round and in place."""
import operator

from elementwise import tried
from observe import program, raises, register, see, see_all, see_grads

PAIRS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul,
         "truediv": operator.truediv, "floordiv": operator.floordiv, "mod": operator.mod,
         "pow": operator.pow, "eq": operator.eq, "ne": operator.ne, "lt": operator.lt,
         "le": operator.le, "gt": operator.gt, "ge": operator.ge, "and": operator.and_,
         "or": operator.or_, "xor": operator.xor, "lshift": operator.lshift,
         "rshift": operator.rshift, "matmul": operator.matmul, "divmod": divmod}
IN_PLACE = {"iadd": operator.iadd, "isub": operator.isub, "imul": operator.imul,
            "itruediv": operator.itruediv, "ifloordiv": operator.ifloordiv, "imod": operator.imod,
            "ipow": operator.ipow, "iand": operator.iand, "ior": operator.ior,
            "ixor": operator.ixor, "ilshift": operator.ilshift}


def pair(apply):
    def run(torch, draw):
        x, y = draw.positive(3, grad=True), draw.positive(3, grad=True)
        tried("tensors", torch, apply, x, y)
        for value in (2, 2.5, True, -1, 0):
            tried(f"tensor {value}", torch, apply, x, value)
            tried(f"{value} tensor", torch, apply, value, x)
            for dtype in ("int64", "bool", "float32", "uint8"):
                t = draw.tensor(3, dtype=dtype, low=1, high=2)
                tried(f"{dtype} {value}", torch, apply, t, value)
                tried(f"{value} {dtype}", torch, apply, value, t)
        for other in ("a", None, [1, 2, 3], (1, 2, 3), 1j, object):
            raises(f"tensor {other}", lambda: apply(x.detach(), other))
            raises(f"{other} tensor", lambda: apply(other, x.detach()))
        for a, b in (("int64", "int64"), ("bool", "bool"), ("int64", "float32")):
            tried(f"{a} {b}", torch, apply, draw.tensor(3, dtype=a, low=1, high=2),
                  draw.tensor(3, dtype=b, low=1, high=2))
        raises("shapes", lambda: apply(draw.tensor(2), draw.tensor(3)))

    return run


def in_place(apply):
    def run(torch, draw):
        for dtype in ("float64", "float32", "int64", "bool"):
            for value in (2, 1.5, True):
                t = draw.tensor(3, dtype=dtype, low=1, high=2)
                raises(f"{dtype} {value}", lambda: apply(t, value))
                see("the same tensor", t)
        x = draw.positive(3, grad=True)
        y = x.clone()
        z = y
        raises("tensor", lambda: apply(y, draw.positive(3)))
        see("same object", z is y)
        raises("backward", lambda: y.sum().backward())
        see_grads(x=x)
        raises("leaf", lambda: apply(x, 2))
        raises("string", lambda: apply(y.detach(), "a"))

    return run


for operator_name, function in PAIRS.items():
    register(__name__, operator_name, pair(function))
for operator_name, function in IN_PLACE.items():
    register(__name__, operator_name, in_place(function))


@program
def one_sided(torch, draw):
    for dtype in ("float64", "int64", "bool", "uint8"):
        t = draw.tensor(3, dtype=dtype)
        raises("neg " + dtype, lambda: -t)
        raises("pos " + dtype, lambda: +t)
        raises("invert " + dtype, lambda: ~t)
        raises("abs " + dtype, lambda: abs(t))
    raises("round", lambda: round(draw.tensor(3)))
    raises("floor", lambda: __import__("math").floor(draw.tensor(1)))


@program
def chains_and_identity(torch, draw):
    x = draw.tensor(3)
    see_all(a=x + 1 - 1, b=2 - x * 3, c=x ** 2 / 2, d=-x ** 2, e=2 ** x)
    see("hash", isinstance(hash(x), int))
    see("in dict", {x: 1}[x])
    see("eq none", x == None)  # noqa: E711
    see("ne none", x != None)  # noqa: E711
    raises("sum", lambda: sum([x, x]))
    raises("max", lambda: max([x[0], x[1]]))


@program
def with_numpy(torch, draw):
    import numpy as np

    x, a = draw.tensor(3), np.array([1.0, 2.0, 3.0])
    for label, apply in PAIRS.items():
        if label in ("add", "mul", "sub", "truediv", "lt"):
            raises(f"tensor {label} array", lambda: apply(x, a))
            raises(f"tensor {label} scalar", lambda: apply(x, np.float32(2)))
            raises(f"scalar {label} tensor", lambda: type(apply(np.float64(2), x)).__name__)

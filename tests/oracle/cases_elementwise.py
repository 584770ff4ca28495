"""Unary maths, arithmetic, comparison, choice and activations."""
import torch

from cases import generates
from draw import INTS

# Domains of functions, somewhat widened, so that NaN is met too.
DOMAINS = {"sqrt": (-0.3, 9), "rsqrt": (-0.2, 9), "log": (-0.3, 9), "log2": (-0.3, 9),
           "log10": (-0.3, 9), "log1p": (-1.1, 9), "asin": (-1.05, 1.05), "acos": (-1.05, 1.05),
           "acosh": (0.8, 9), "atanh": (-1.05, 1.05), "logit": (-0.1, 1.1), "exp": (-20, 20),
           "sin": (-50, 50), "cos": (-50, 50), "tan": (-50, 50), "sinh": (-10, 10),
           "cosh": (-10, 10), "erf": (-4, 4), "erfc": (-4, 8), "round": (-6, 6),
           "floor": (-6, 6), "ceil": (-6, 6), "trunc": (-6, 6)}
UNARY = """abs sign sgn positive isnan isinf isfinite floor ceil trunc frac sqrt rsqrt reciprocal
exp exp2 expm1 log log1p log2 log10 sigmoid sin cos tan asin acos atan sinh cosh tanh asinh acosh
atanh erf erfc neg square logical_not bitwise_not""".split()
BINARY = """mul remainder fmod floor_divide hypot atan2 xlogy logical_and logical_or logical_xor
maximum minimum fmax fmin eq ne lt le gt ge max.other min.other""".split()


@generates("unary", *UNARY)
def unary(d, f):
    low, high = DOMAINS.get(f.base, (-3, 3))
    return {"self": d.tensor(d.shape(), d.any_dtype(), low, high)}


@generates("unary", "round")
def round_(d, f):
    given = {"self": d.tensor(d.shape(), d.any_dtype(), -60, 60)}
    if f.overload or d.coin(0.4):
        given["decimals"] = d.randint(-1, 2)
    return given


@generates("unary", "logit")
def logit(d, f):
    given = {"self": d.tensor(d.shape(), d.any_dtype(), -0.1, 1.1)}
    if d.coin():
        given["eps"] = 0.05
    return given


@generates("unary", "nan_to_num")
def nan_to_num(d, f):
    d.special = d.coin(0.7)
    given = {"self": d.tensor(d.shape(), d.any_dtype())}
    for name in ("nan", "posinf", "neginf"):
        if d.coin(0.4):
            given[name] = d.uniform(-9, 9)
    return given


def operands(d, count=2, low=-3.0, high=3.0, dtypes=None):
    """Tensors that broadcast, of one dtype or mixed, some zero-dim."""
    mixed, common = d.coin(0.4), (dtypes or d.any_dtype)()
    tensors = []
    for shape in d.spread(d.shape(), count):
        dtype = (dtypes or d.any_dtype)() if mixed else common
        tensors.append(d.tensor([] if d.coin(0.08) else shape, dtype, low, high))
    return tensors


def other_or_number(d, other):
    return d.scalar() if d.coin(0.2) else other


@generates("binary", *BINARY)
def binary(d, f):
    a, b = operands(d)
    names = [x["name"] for x in f.arguments]
    plain = f.base in ("hypot", "atan2", "maximum", "minimum", "fmax", "fmin", "max", "min",
                       "logical_and", "logical_or", "logical_xor")
    return {names[0]: a, names[1]: b if plain else other_or_number(d, b)}


@generates("binary", "add", "sub", "rsub")
def add(d, f):
    a, b = operands(d)
    given = {"self": a, "other": other_or_number(d, b)}
    if d.coin(0.4):
        given["alpha"] = d.scalar(kinds="iif")
    return given


@generates("binary", "div")
def div(d, f):
    a, b = operands(d)
    given = {"self": a, "other": other_or_number(d, b)}
    if f.overload or d.coin(0.6):
        given["rounding_mode"] = d.choice((None, "floor", "trunc"))
    return given


@generates("binary", "pow")
def pow_(d, f):
    a, b = operands(d, low=-2, high=4)
    return {"self": a, "exponent": d.choice((2, 3, -1, 0, 0.5, 2.0, -2, 1.7, True)) if d.coin(0.4)
            else b}


@generates("binary", "bitwise_and", "bitwise_or", "bitwise_xor")
def bitwise(d, f):
    a, b = operands(d, low=-50, high=90, dtypes=lambda: d.choice(INTS + (torch.bool,)))
    return {"self": a, "other": d.scalar(kinds="ib") if d.coin(0.2) else b}


@generates("binary", "bitwise_left_shift", "bitwise_right_shift")
def shift(d, f):
    a, b = operands(d, low=0, high=7, dtypes=lambda: d.choice(INTS))
    return {"self": a, "other": d.randint(0, 4) if d.coin(0.2) else b}


@generates("compare", "isclose", "allclose", "equal")
def close(d, f):
    dtype = d.any_dtype()
    a = d.tensor(d.shape(), dtype, grad=False)
    b = a.clone() if d.coin(0.6) else d.tensor(a.shape, dtype, grad=False)
    if dtype.is_floating_point and d.coin():
        b = b + d.choice((1e-9, 1e-6, 1e-3))
    given = {"self": a, "other": b}
    if f.base != "equal" and d.coin():
        given.update(rtol=1e-3, atol=1e-4, equal_nan=d.coin())
    return given


@generates("choice", "where")
def where(d, f):
    a, b, c = operands(d, 3)
    given = {"condition": d.mask(c.shape), "self": a, "other": b}
    if d.coin(0.25):
        given[d.choice(("self", "other"))] = d.scalar()
    return given


@generates("choice", "masked_fill")
def masked_fill(d, f):
    a = d.tensor(d.shape(), d.any_dtype())
    value = d.scalar() if d.coin(0.6) else d.tensor([], a.dtype)
    return {"self": a, "mask": d.mask(d.broadcastable(a.shape)), "value": value}


@generates("choice", "clamp")
def clamp(d, f):
    a, low, high = operands(d, 3)
    if d.coin():
        low, high = d.scalar(-2, 0, "if"), d.scalar(0, 2, "if")
    choice = d.randrange(3)
    return {"self": a, "min": None if choice == 1 else low, "max": None if choice == 2 else high}


@generates("choice", "clamp_min", "clamp_max")
def clamp_one(d, f):
    a, b = operands(d)
    return {"self": a, f.arguments[1]["name"]: other_or_number(d, b)}


@generates("choice", "lerp")
def lerp(d, f):
    a, b, c = operands(d, 3, dtypes=lambda: d.dtype)
    return {"self": a, "end": b, "weight": d.uniform(-0.2, 1.2) if d.coin(0.4) else c}


@generates("binary", "addcmul", "addcdiv")
def addcmul(d, f):
    a, b, c = operands(d, 3, dtypes=(lambda: d.dtype) if d.coin(0.7) else None)
    given = {"self": a, "tensor1": b, "tensor2": c}
    if d.coin():
        given["value"] = d.scalar(kinds="if")
    return given


@generates("activation", "relu", "relu6", "selu", "silu", "mish", "log_sigmoid", "gelu", "hardtanh",
           "leaky_relu", "elu", "softplus", "threshold")
def activation(d, f):
    dtype = d.dtype if d.coin(0.8) else d.any_dtype()
    given = {"self": d.tensor(d.shape(), dtype, -8, 8)}
    for argument in f.arguments[1:]:
        if argument["default"] is not None and d.coin():
            continue
        name = argument["name"]
        given[name] = {"approximate": d.choice(("none", "tanh")), "min_val": d.scalar(-3, 0, "if"),
                       "max_val": d.scalar(0, 3, "if")}.get(name, d.scalar(0.1, 2, "if"))
    return given

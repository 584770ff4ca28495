"""Every elementwise function in the same forms: plain, dtypes, in place, out=, gradients."""
from observe import Raised, outcome, raises, register, see, see_grads

ANYWHERE = ("abs", "neg", "sin", "cos", "tanh", "sigmoid", "exp", "expm1", "erf", "erfc", "atan",
            "sinh", "cosh", "asinh", "square", "sign", "sgn", "floor", "ceil", "round", "trunc",
            "frac", "relu", "exp2", "positive", "nan_to_num", "logical_not", "isnan", "isinf",
            "isfinite", "signbit", "deg2rad", "rad2deg", "sinc", "i0")
POSITIVE = ("sqrt", "rsqrt", "log", "log2", "log10", "log1p", "reciprocal", "lgamma", "digamma",
            "acosh", "logit", "asin", "acos", "atanh", "tan")
BINARY = ("add", "sub", "mul", "div", "pow", "maximum", "minimum", "fmax", "fmin", "atan2", "hypot",
          "remainder", "fmod", "floor_divide", "eq", "lt", "logical_and", "logical_xor", "xlogy",
          "logaddexp", "copysign", "nextafter", "heaviside")
INTEGERS = ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "gcd", "lcm")


def tried(label, torch, function, *args, **named):
    """Records a call, and the gradients of every tensor that requires grad."""
    result = outcome(lambda: function(*args, **named))
    see(label, result)
    if isinstance(result, Raised) or not getattr(result, "requires_grad", False):
        return
    leaves = [a for a in args if hasattr(a, "requires_grad") and a.requires_grad]
    raises("d " + label, lambda: torch.autograd.grad(
        result.sum() * 2, leaves, allow_unused=True))


def see_names(torch, *names):
    """Sees which functions and methods exist; the first has to, or the program ends there."""
    for name in names:
        see(f"has {name}", hasattr(torch, name))
        see(f"has Tensor.{name}", hasattr(torch.Tensor, name))
    if not hasattr(torch, names[0]):
        raise AttributeError(f"{torch.__name__} has no attribute {names[0]}")


def unary(name, positive):
    def program(torch, draw):
        make = draw.positive if positive else draw.tensor
        see_names(torch, name, name + "_")
        function = getattr(torch, name)
        for dtype in ("float64", "float32", "float16", "bfloat16", "int64", "uint8", "bool"):
            tried(dtype, torch, function, make(2, 3, dtype=dtype))
        tried("gradient", torch, function, make(2, 3, grad=True))
        tried("transposed", torch, function, make(2, 3, grad=True).t())
        tried("stepped", torch, function, make(4, 3)[::2, 1:])
        tried("zero-dim", torch, function, make(grad=True))
        tried("empty", torch, function, make(0, 3))
        tried("special", torch, function, torch.tensor([float("nan"), float("inf"), -float("inf"),
                                                        0.0, -0.0]))
        tried("named", torch, lambda x: function(input=x), make(2))
        tried("out", torch, lambda x: function(x, out=torch.zeros(2, dtype=torch.float64)), make(2))
        raises("a number", lambda: function(1.0))
        raises("too many", lambda: function(make(2), 1, 2, 3, 4, 5, 6))
        if hasattr(torch.Tensor, name + "_"):
            x = make(3, grad=True)
            y = x.clone()
            raises("in place", lambda: getattr(y, name + "_")())
            see("version", y._version)
            raises("backward", lambda: y.sum().backward())
            see_grads(x=x)
            raises("in place int", lambda: getattr(make(3, dtype="int64"), name + "_")())

    return program


def binary(name):
    def program(torch, draw):
        see_names(torch, name, name + "_")
        function, make = getattr(torch, name), draw.positive
        tried("plain", torch, function, make(2, 3, grad=True), make(2, 3, grad=True))
        tried("broadcast", torch, function, make(2, 1, grad=True), make(3, grad=True))
        tried("number", torch, function, make(3, grad=True), 2)
        tried("float number", torch, function, make(3, grad=True), 1.5)
        tried("bool number", torch, function, make(3), True)
        tried("number first", torch, function, 2.0, make(3, grad=True))
        for a, b in (("float32", "float64"), ("int64", "float32"), ("int32", "int64"),
                     ("bool", "int64"), ("uint8", "int8"), ("float16", "bfloat16"),
                     ("bool", "bool"), ("float16", "int64")):
            tried(f"{a} {b}", torch, function, draw.tensor(3, dtype=a, low=1, high=3),
                  draw.tensor(3, dtype=b, low=1, high=3))
        tried("zero-dim wider", torch, function, make(3, dtype="float32"), make())
        tried("zero-dim kind", torch, function, draw.tensor(3, dtype="int64",
        low=1, high=3), make())
        tried("int and float number", torch, function, draw.tensor(3, dtype="int64", low=1), 1.5)
        raises("shapes", lambda: function(make(2), make(3)))
        raises("none", lambda: function(make(2), None))
        raises("string", lambda: function(make(2), "a"))
        raises("one", lambda: function(make(2)))
        x = make(3, grad=True)
        y = x.clone()
        if hasattr(y, name + "_"):
            raises("in place", lambda: getattr(y, name + "_")(make(3)))
            raises("backward", lambda: y.sum().backward())
            see_grads(x=x)

    return program


def integer(name):
    def program(torch, draw):
        see_names(torch, name)
        function = getattr(torch, name)
        for dtype in ("int64", "int32", "uint8", "bool", "float32"):
            a, b = (draw.tensor(3, dtype=dtype, low=1, high=2) for _ in "ab")
            tried(dtype, torch, function, a, b)
            tried(dtype + " number", torch, function, a, 2)

    return program


for table, maker in ((ANYWHERE, lambda n: unary(n, False)), (POSITIVE, lambda n: unary(n, True)),
                     (BINARY, binary), (INTEGERS, integer)):
    for function_name in table:
        register(__name__, function_name, maker(function_name))

"""Tools of programs: a registry, a recorder of observations and a source of numbers.

A program is a function of (torch, draw) marked with @program. It tells what it sees with see() and
never asks which library it runs under; both runs make the same draws. The worker writes what was
seen as JSON, with the library's own name replaced, so that both can be compared as they are.
"""
import itertools
import math
import random
import re

REGISTRY = {}  # family -> {name: function}
seen = []  # (label, normalised value) of the running program


def program(function):
    """Registers a program under its family: the name of its file, or FAMILY there."""
    family = function.__globals__.get("FAMILY", function.__module__)
    REGISTRY.setdefault(family, {})[function.__name__] = function
    return function


def register(family, name, function):
    """For programs that are made from a table."""
    REGISTRY.setdefault(family, {})[name] = function


def see(label, value):
    """Records a value as it is now; later writes do not change what was recorded."""
    seen.append((label, normal(value)))


def see_all(**values):
    for label, value in values.items():
        see(label, value)


def see_grads(**leaves):
    """Records .grad of every leaf."""
    for label, leaf in leaves.items():
        see(label + ".grad", leaf.grad)


class Raised:
    """An exception that a program asked for: compared by its type."""

    def __init__(self, error):
        self.type, self.message = type(error).__name__, str(error)


def outcome(action):
    """The result of the action, or the exception that it raises."""
    try:
        return action()
    except Exception as error:  # whatever it is, it is what gets compared
        return Raised(error)


def raises(label, action):
    """Records how an action ends: most programs expect an exception here."""
    see(label, outcome(action))


# ---- values as JSON

def text(value):
    """A string without the library's name."""
    return re.sub(r"0x[0-9a-f]+", "0x", value.replace("foregrad", "torch"))


def normal(value):
    """A value as JSON: numbers keep their type, tensors become what is compared about them."""
    if isinstance(value, Raised):
        return {"kind": "raised", "type": value.type, "message": value.message[:300]}
    if isinstance(value, (bool, str, type(None))):
        return text(value) if isinstance(value, str) else value
    if isinstance(value, int):
        return {"kind": "int", "value": str(value)}
    if isinstance(value, float):
        return {"kind": "float", "value": number(value)}
    if hasattr(value, "grad_fn") and hasattr(value, "stride"):
        try:
            return tensor(value)
        except RuntimeError as error:  # some views may not even be looked at
            return normal(Raised(error))
    if isinstance(value, (list, tuple)):
        name = type(value).__name__
        return {"kind": name, "items": [normal(v) for v in value]}
    if isinstance(value, dict):
        return {"kind": "dict", "items": [
            {"kind": "pair", "items": [text(str(k)), normal(v)]} for k, v in value.items()]}
    if type(value).__module__ == "numpy":
        return {"kind": "numpy", "text": f"{type(value).__name__} {value.dtype} {value.tolist()}"}
    return {"kind": type(value).__name__, "text": text(str(value))}


def number(value):
    """JSON has no names for these."""
    if isinstance(value, complex) or isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def numbers(values):
    return [number(v) for v in values]


def tensor(t):
    plain = t.detach()
    return {
        "kind": "tensor", "type": type(t).__name__, "dtype": text(str(t.dtype)),
        "shape": list(t.shape), "stride": list(t.stride()), "offset": t.storage_offset(),
        "requires_grad": t.requires_grad, "is_leaf": t.is_leaf, "is_view": t._is_view(),
        "version": None if t.is_inference() else t._version,
        "node": node_name(t.grad_fn), "values": values(plain),
    }


def values(plain):
    """All elements; PyTorch has zeros without memory, which tolist() refuses."""
    if getattr(plain, "_is_zerotensor", bool)():
        return [0.0] * plain.numel()
    return numbers(plain.reshape(-1).tolist())


def node_name(node):
    """The name of a node's type: name() may have a namespace in front."""
    return None if node is None else text(type(node).__name__)


def graph(t, depth=12):
    """The history of a tensor as text: nodes with what they lead to."""
    return _graph(t.grad_fn, depth)


def _graph(node, depth):
    if node is None:
        return "-"
    if depth == 0:
        return "..."
    parts = (f"{_graph(n, depth - 1)}{f'.{nr}' if nr else ''}" for n, nr in node.next_functions)
    return f"{node_name(node)}({', '.join(parts)})"


# ---- numbers

class Draw:
    """Numbers, shapes and tensors that are the same for the same seed in either library."""

    def __init__(self, torch, seed):
        self.torch, self.random = torch, random.Random(seed)

    def integer(self, low, high):
        """Between low and high, both included."""
        return self.random.randint(low, high)

    def chance(self, part):
        return self.random.random() < part

    def choice(self, options):
        return self.random.choice(list(options))

    def sample(self, options, count):
        return self.random.sample(list(options), count)

    def number(self, low=-2.0, high=2.0):
        return round(self.random.uniform(low, high), 3)

    def numbers(self, count, low=-2.0, high=2.0):
        return [self.number(low, high) for _ in range(count)]

    def shape(self, low=1, high=3, most=4):
        return tuple(self.integer(1, most) for _ in range(self.integer(low, high)))

    def nested(self, shape, low=-2.0, high=2.0):
        if not shape:
            return self.number(low, high)
        return [self.nested(shape[1:], low, high) for _ in range(shape[0])]

    def tensor(self, *shape, dtype="float64", grad=False, low=-2.0, high=2.0):
        """A leaf; integers are whole, bools are either."""
        dtype = getattr(self.torch, dtype)
        count = math.prod(shape)
        flat = self.numbers(count, low, high)
        if dtype is self.torch.bool:
            flat = [v > 0 for v in flat]
        elif not dtype.is_floating_point:
            flat = [int(abs(v) * 3) if dtype is self.torch.uint8 else int(v * 3) for v in flat]
        result = self.torch.tensor(flat, dtype=dtype).reshape(shape).clone()
        return result.requires_grad_() if grad else result

    def positive(self, *shape, **options):
        return self.tensor(*shape, low=0.2, high=2.0, **options)

    def indices(self, count, below):
        return [self.integer(0, below - 1) for _ in range(count)]

    def weights_like(self, t):
        """A gradient for t: numbers that differ from element to element."""
        flat = [((k * 37 + 5) % 23 - 11) / 8 + 0.03 for k in range(t.numel())]
        return self.torch.tensor(flat, dtype=t.dtype).reshape(t.shape)


def counted():
    """A list that hooks append to, and a maker of hooks that write their name there."""
    order, count = [], itertools.count()

    def hook(name, returns=None):
        def run(*args):
            order.append(f"{next(count)}:{name}")
            return returns(*args) if returns else None

        return run

    return order, hook

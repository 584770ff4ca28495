"""Generators of arguments, by function; a generic one reads the schema."""

FAMILIES = {}    # function or its base name -> family
GENERATORS = {}  # function or its base name -> generator(draw, function) -> named arguments


def generates(family, *names):
    """Registers a generator for functions, by full name or for all overloads of a name."""
    def register(generator):
        for name in names:
            assert name not in GENERATORS, name
            GENERATORS[name], FAMILIES[name] = generator, family
        return generator
    return register


def look_up(table, function, default):
    return table.get(function.name, table.get(function.base, default))


def family_of(function):
    default = "backward" if function.base.endswith("_backward") else "other"
    return look_up(FAMILIES, function, default)


def arguments_of(draw, function, all_functions=()):
    """Named arguments; what the schema calls a Scalar is a number, and only that where an overload
    with a Scalar exists, as PyTorch would choose it."""
    given = look_up(GENERATORS, function, from_schema)(draw, function)
    for argument in function.arguments:
        name, kind = argument["name"], argument["type"]
        value = given.get(name)
        if kind in ("scalar", "opt_scalar") and hasattr(value, "shape"):
            given[name] = draw.scalar(kinds="if")
        if kind in ("tensor", "opt_tensor") and isinstance(value, (int, float)) and \
                has_scalar_overload(function, name, all_functions):
            given[name] = draw.tensor([], draw.any_dtype())
    return given


def has_scalar_overload(function, name, all_functions):
    return any(f.base == function.base and a["name"] == name and "scalar" in a["type"]
               for f in all_functions for a in f.arguments)


def from_schema(draw, function):
    """Tensors of one shape, axes in range, small numbers; options now and then."""
    shape = draw.shape(1, 3)
    given = {}
    for argument in function.arguments:
        name, kind = argument["name"], argument["type"]
        if kind == "generator" or (argument["default"] is not None and draw.coin(0.4)):
            continue
        if kind.startswith("opt_"):
            if draw.coin(0.3):
                given[name] = None
                continue
            kind = kind[4:]
        given[name] = value(draw, name, kind, shape)
    return given


def value(draw, name, kind, shape):
    rank = len(shape)
    if kind == "tensor":
        return draw.tensor(shape)
    if kind == "tensors":
        return [draw.tensor(shape) for _ in range(draw.randint(1, 3))]
    if kind == "integer" and "dim" in name:
        return draw.axis(rank)
    if kind == "dims":
        return draw.axes(rank) if "dim" in name else list(shape)
    return {"scalar": lambda: draw.scalar(0.1, 2, "if"), "integer": lambda: draw.randint(0, 3),
            "dim": lambda: draw.randint(0, 3), "real": lambda: draw.uniform(0.1, 2),
            "boolean": draw.coin, "dtype": draw.pick_float,
            "string": lambda: draw.choice(("none", "mean", "sum"))}[kind]()

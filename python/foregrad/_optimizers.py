"""The table of optimisers, from which foregrad.optim and foregrad.compiler make their classes."""

from foregrad import _C

Tensor = _C.Tensor

# Parameters of PyTorch's constructors that are no settings of a formula.
MODES = {"foreach": None, "fused": None, "capturable": False, "differentiable": False}

# Settings that are not a number, and what is expected of them.
EXPECTED = {"betas": "two betas", "etas": "two etas", "step_sizes": "two step_sizes",
            "ns_coefficients": "three ns_coefficients", "eps": "two eps"}


def table():
    """The rows of the native table by name; `settings` are defaults by name."""
    rows = {row["name"]: row for row in _C.optimizers()}
    for row in rows.values():
        row["documented"] = {name: text for name, _, text in row["settings"]}
        row["settings"] = {name: default for name, default, _ in row["settings"]}
    return rows


def plain(value):
    """A setting without tensors: their numbers in their places."""
    if isinstance(value, Tensor):
        return value.item()
    return tuple(map(plain, value)) if isinstance(value, (tuple, list)) else value


def native_settings(row, settings):
    """The native settings of a row, from a dictionary that has them all."""
    name = row["name"]
    given = {key: plain(settings[key]) for key in row["settings"]}
    try:
        return _C.optimizer_settings(name, given)
    except TypeError:
        tuples = [EXPECTED[key] for key, value in row["settings"].items()
                  if isinstance(value, tuple)]
        expected = ", ".join(["numbers", *tuples])
        raise TypeError(f"{name}: expected {expected} and bools, got {given}") from None


def documentation_of(row):
    """The sentence of an optimiser, and those of its settings."""
    settings = "".join(f"\n    {name}: {text}" for name, text in row["documented"].items())
    return f"{row['documentation']}\n{settings}\n"


def made_class(name, base, parameters, defaults, module, members):
    """A class whose __init__ has these parameters, and calls _begin with a dictionary of those that
    have defaults. Written out as text, so that wrong calls have Python's own messages."""
    shown = [f"{each}=_{each}" if each in defaults else each for each in parameters]
    begun = "".join(f"{each}, " for each in parameters if each not in defaults and each != "*")
    found = ", ".join(f"{each!r}: {each}" for each in parameters if each in defaults)
    text = (f"def __init__(self, {', '.join(shown)}):\n"
            f"    self._begin({begun}{{{found}}})")
    scope = {f"_{each}": value for each, value in defaults.items()}
    exec(text, scope)
    init = scope["__init__"]
    init.__qualname__, init.__module__ = f"{name}.__init__", module
    return type(name, (base,), {"__init__": init, "__module__": module, **members})

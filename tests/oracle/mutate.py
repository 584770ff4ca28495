"""Turns good arguments into doubtful ones. PyTorch decides whether they are errors."""
import torch

from draw import ALL


def mutate(draw, function, given):
    """Changes one argument in place; returns what was done, for the report."""
    kinds = {a["name"]: a["type"].removeprefix("opt_") for a in function.arguments}
    rank = next((v.dim() for v in given.values() if isinstance(v, torch.Tensor)), 2)
    names = [n for n in given if n in kinds and given[n] is not None]
    if not names:
        return "nothing"
    name = draw.choice(names)
    change = CHANGES.get(kinds[name])
    if change is None:
        return "nothing"
    value = given[name]
    if isinstance(value, (int, float)) and kinds[name] == "tensor":
        change = other_number
    given[name], what = change(draw, name, value, rank)
    return f"{name}: {what}"


def tensor(draw, name, t, rank):
    t = t.detach()
    kind = draw.choice(("dtype", "dtype", "bigger", "unsqueezed", "selected", "empty", "far"))
    if kind == "far" and t.dtype in (torch.int64, torch.int32) and t.numel():
        t = t.clone(memory_format=torch.contiguous_format)
        t.view(-1)[draw.randrange(t.numel())] = draw.choice((1000, -1000))
    elif kind == "dtype":
        t = t.to(draw.choice(ALL))
    elif kind == "unsqueezed":
        t = t.unsqueeze(0)
    elif t.dim() and kind != "far":
        axis = draw.randrange(t.dim())
        if kind == "bigger":
            t = torch.cat([t, t.narrow(axis, 0, min(t.shape[axis], 1))], axis)
        elif kind == "selected" and t.shape[axis]:
            t = t.select(axis, 0).clone()
        elif kind == "empty":
            t = t.narrow(axis, 0, 0).clone()
    return t.data, kind


def tensors(draw, name, values, rank):
    places = [i for i, v in enumerate(values) if v is not None]
    if draw.coin(0.2) or not places:
        return [], "empty list"
    place = draw.choice(places)
    changed, what = tensor(draw, name, values[place], rank)
    return values[:place] + [changed] + values[place + 1:], what


def integer(draw, name, value, rank):
    if "dim" in name or name in ("axis0", "axis1", "source", "destination"):
        return draw.choice((rank, -rank - 1, rank + 3, -9)), "dimension out of range"
    return draw.choice((-1, 0, value + 1, -value - 2, 50)), "another integer"


def dims(draw, name, value, rank):
    values = [value] if isinstance(value, int) else list(value)
    kind = draw.choice(("negative", "longer", "shorter", "twice", "far", "zero"))
    if kind == "longer" or not values:
        values = values + [1]
    elif kind == "shorter":
        values = values[:-1]
    elif kind == "twice":
        values = values + values[:1]
    else:
        place = draw.randrange(len(values))
        values[place] = {"negative": -2, "zero": 0, "far": values[place] + 7}[kind]
    return values, kind


def other_number(draw, name, value, rank):
    return draw.choice((0, -1, 300, 2.5, -0.5, True, float("inf"))), "another number"


def real(draw, name, value, rank):
    return draw.choice((-1.0, 2.0, 0.0, float("nan"))), "another float"


CHANGES = {
    "tensor": tensor, "tensors": tensors, "integer": integer, "dim": integer, "dims": dims,
    "scalar": other_number, "real": real,
    "string": lambda draw, name, value, rank: ("bogus", "unknown word"),
    "boolean": lambda draw, name, value, rank: (not value, "the other"),
    "dtype": lambda draw, name, value, rank: (draw.choice(ALL), "another dtype"),
}

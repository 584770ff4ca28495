"""Views, copies, joining and rearranging."""
import math

from cases import generates


def factors(d, n):
    """Sizes whose product is n."""
    sizes = []
    while n > 1 and d.coin(0.8):
        part = d.choice([k for k in range(1, n + 1) if n % k == 0])
        sizes.append(part)
        n //= part
    return sizes + [n] if n != 1 or not sizes else sizes


@generates("view", "view", "reshape", "_unsafe_view", "_reshape_alias")
def view(d, f):
    self = d.tensor(d.shape(0, 4, zero=False), d.any_dtype())
    sizes = factors(d, self.numel())
    if d.coin(0.3):
        sizes[d.randrange(len(sizes))] = -1
    return {"self": self, f.arguments[1]["name"]: sizes}


@generates("view", "view.dtype")
def view_dtype(d, f):
    return {"self": d.tensor(d.shape(0, 4), d.any_dtype()), "dtype": d.any_dtype()}


@generates("view", "view_as", "reshape_as")
def view_as(d, f):
    self = d.tensor(d.shape(0, 4, zero=False), d.any_dtype())
    return {"self": self, "other": d.tensor(factors(d, self.numel()))}


@generates("view", "ravel", "squeeze", "alias", "detach", "t", "numpy_T", "mT", "fliplr", "flipud",
           "trace")
def only_self(d, f):
    low, high = {"t": (0, 2), "numpy_T": (2, 2), "mT": (2, 4), "fliplr": (2, 4), "flipud": (1, 4),
                 "trace": (2, 2)}.get(f.base, (0, 4))
    return {"self": d.tensor(d.shape(low, high), d.any_dtype())}


@generates("view", "flatten")
def flatten(d, f):
    self = d.tensor(d.shape(), d.any_dtype())
    rank = max(self.dim(), 1)
    first = d.randint(0, rank - 1)
    return {"self": self, "start_dim": first, "end_dim": d.randint(first, rank - 1) - d.choice(
        (0, rank))}


@generates("view", "unflatten")
def unflatten(d, f):
    self = d.tensor(d.shape(1, 3, zero=False), d.any_dtype())
    axis = d.axis(self.dim())
    sizes = factors(d, self.shape[axis])
    if d.coin(0.3):
        sizes[d.randrange(len(sizes))] = -1
    return {"self": self, "dim": axis, "sizes": sizes}


@generates("view", "unsqueeze")
def unsqueeze(d, f):
    self = d.tensor(d.shape(), d.any_dtype())
    return {"self": self, "dim": d.axis(self.dim() + 1)}


@generates("view", "squeeze.dim", "squeeze.dims", "unbind", "flip")
def some_axes(d, f):
    self = d.tensor(d.shape(1 if f.base == "unbind" else 0), d.any_dtype())
    argument = f.arguments[1]
    return {"self": self, argument["name"]: d.axes(self.dim()) if argument["type"] == "dims" else
            d.axis(self.dim())}


@generates("view", "expand")
def expand(d, f):
    size = d.shape()
    self = d.tensor(d.broadcastable(size), d.any_dtype())
    skipped = len(size) - self.dim()
    return {"self": self, "size": [-1 if i >= skipped and d.coin(0.15) else s
                                   for i, s in enumerate(size)]}


@generates("view", "expand_as")
def expand_as(d, f):
    other = d.tensor(d.shape(), d.any_dtype())
    return {"self": d.tensor(d.broadcastable(other.shape), d.any_dtype()), "other": other}


@generates("view", "permute")
def permute(d, f):
    self = d.tensor(d.shape(), d.any_dtype())
    return {"self": self, "dims": [a - self.dim() if d.coin(0.2) else a
                                   for a in d.sample(range(self.dim()), self.dim())]}


@generates("view", "transpose", "swapaxes", "swapdims", "movedim.int", "moveaxis.int")
def two_axes(d, f):
    self = d.tensor(d.shape(), d.any_dtype())
    return {"self": self, **{a["name"]: d.axis(self.dim()) for a in f.arguments[1:]}}


@generates("view", "movedim.intlist", "moveaxis.intlist")
def movedim(d, f):
    self = d.tensor(d.shape(), d.any_dtype())
    source = d.axes(self.dim())
    return {"self": self, "source": source, "destination": d.sample(range(self.dim()),
                                                                    len(source))}


@generates("view", "select")
def select(d, f):
    self = d.tensor(d.shape(1, 4, zero=False), d.any_dtype())
    axis = d.axis(self.dim())
    return {"self": self, "dim": axis, "index": d.axis(self.shape[axis])}


@generates("view", "slice")
def slice_(d, f):
    self = d.tensor(d.shape(1), d.any_dtype())
    axis = d.axis(self.dim())
    n = self.shape[axis]
    ends = [None if d.coin(0.2) else d.randint(-n - 2, n + 2) for _ in range(2)]
    return {"self": self, "dim": axis, "start": ends[0], "end": ends[1], "step": d.randint(1, 3)}


@generates("view", "narrow")
def narrow(d, f):
    self = d.tensor(d.shape(1), d.any_dtype())
    axis = d.axis(self.dim())
    start = d.randint(0, self.shape[axis])
    return {"self": self, "dim": axis, "start": start,
            "length": d.randint(0, self.shape[axis] - start)}


@generates("view", "diagonal", "diagonal_copy", "diag_embed")
def diagonal(d, f):
    embed = f.base == "diag_embed"
    self = d.tensor(d.shape(1 if embed else 2, 3 if embed else 4), d.any_dtype())
    given = {"self": self}
    if d.coin(0.7):
        given["offset"] = d.randint(-3, 3)
    if d.coin(0.5):
        rank = self.dim() + embed
        given["dim1"], given["dim2"] = d.sample(range(rank), 2)
    return given


@generates("view", "unfold")
def unfold(d, f):
    self = d.tensor(d.shape(1, 3, zero=False), d.any_dtype())
    axis = d.axis(self.dim())
    return {"self": self, "dimension": axis, "size": d.randint(1, self.shape[axis]),
            "step": d.randint(1, 3)}


@generates("view", "as_strided")
def as_strided(d, f):
    self = d.tensor([d.randint(8, 30)], d.any_dtype(), layout=False)
    sizes = d.shape(0, 2)
    strides, room = [], self.numel() - 1
    for size in sizes:
        stride = d.randint(0, max(room // max(size, 1) // 2, 0))
        strides.append(stride)
        room -= stride * (size - 1) if size else 0
    return {"self": self, "size": sizes, "stride": strides,
            "storage_offset": None if d.coin() else d.randint(0, max(room // 2, 0))}


@generates("view", "split.Tensor", "split.sizes", "split_with_sizes", "chunk")
def split(d, f):
    self = d.tensor(d.shape(1), d.any_dtype())
    axis = d.axis(self.dim())
    n, name = self.shape[axis], f.arguments[1]["name"]
    if f.arguments[1]["type"] != "dims":
        return {"self": self, name: d.randint(1, max(n, 1) + 1), "dim": axis}
    cuts = sorted(d.randint(0, n) for _ in range(d.randint(0, 3)))
    return {"self": self, name: [b - a for a, b in zip([0] + cuts, cuts + [n])], "dim": axis}


@generates("copy", "clone", "contiguous", "zero")
def copies(d, f):
    return {"self": d.tensor(d.shape(), d.any_dtype())}


@generates("copy", "to")
def to(d, f):
    self = d.tensor(d.shape(), d.any_dtype())
    dtype = self.dtype if d.coin(0.3) else d.any_dtype()
    return {"self": self, "dtype": dtype, "copy": d.coin(0.3)}


@generates("copy", "to.other", "copy")
def copy(d, f):
    self = d.tensor(d.shape(), d.any_dtype())
    name = f.arguments[1]["name"]
    return {"self": self, name: d.tensor(d.broadcastable(self.shape), d.any_dtype())}


@generates("copy", "fill")
def fill(d, f):
    self = d.tensor(d.shape(), d.any_dtype())
    return {"self": self, "value": d.tensor([], self.dtype) if f.overload == "Tensor" else
            d.scalar()}


@generates("join", "cat", "stack", "hstack", "vstack")
def join(d, f):
    least = 1 if f.base == "cat" else 0
    shape, common = d.shape(least, 3), d.any_dtype()
    axis = d.axis(len(shape) + (f.base == "stack"))
    parts = []
    for _ in range(d.randint(1, 4)):
        part = list(shape)
        if f.base == "cat":
            part[axis] = d.randint(0, 4)
        parts.append(d.tensor(part, d.any_dtype() if d.coin(0.15) else common))
    if f.base == "cat" and d.coin(0.1):
        parts.insert(0, d.tensor([0], common))
    return {"tensors": parts, **({"dim": axis} if f.base in ("cat", "stack") else {})}


@generates("rearrange", "repeat", "tile")
def repeat(d, f):
    self = d.tensor(d.shape(0, 3), d.any_dtype())
    count = self.dim() + d.randint(0, 1) if f.base == "repeat" else d.randint(0, self.dim() + 1)
    return {"self": self, f.arguments[1]["name"]: [d.choice((0, 1, 1, 2, 3)) for _ in range(count)]}


@generates("rearrange", "repeat_interleave")
def repeat_interleave(d, f):
    self = d.tensor(d.shape(1, 3), d.any_dtype())
    axis = d.axis(self.dim()) if d.coin(0.7) else None
    size = self.numel() if axis is None else self.shape[axis]
    repeats = d.randint(0, 3) if f.overload == "self_int" else d.indices([size], 4)
    return {"self": self, "repeats": repeats, "dim": axis}


@generates("rearrange", "roll")
def roll(d, f):
    self = d.tensor(d.shape(), d.any_dtype())
    axes = d.axes(self.dim(), 1) if d.coin(0.7) else []
    return {"self": self, "shifts": [d.randint(-7, 7) for _ in axes or [0]], "dims": axes}


@generates("rearrange", "constant_pad_nd", "pad")
def pad(d, f):
    mode = d.choice(("constant", "constant", "reflect", "replicate", "circular"))
    if f.base == "constant_pad_nd" or mode == "constant":
        self = d.tensor(d.shape(1), d.any_dtype())
        amounts = [d.randint(0 if 0 in self.shape else -1, 3)
                   for _ in range(2 * d.randint(0, self.dim()))]
        given = {"self": self, "pad": amounts}
        if d.coin():
            given["value"] = float(d.scalar()) if f.base == "pad" else d.scalar()
        return given
    axes = d.randint(1, 3)
    self = d.tensor([d.randint(1, 3) for _ in range(d.randint(1, 2))] +
                    [d.randint(3, 5) for _ in range(axes)])
    return {"self": self, "pad": [d.randint(0, 2) for _ in range(2 * axes)], "mode": mode}


@generates("rearrange", "tril", "triu")
def triangle(d, f):
    self = d.tensor(d.shape(2), d.any_dtype())
    return {"self": self, "diagonal": d.randint(-3, 3)} if d.coin(0.7) else {"self": self}


@generates("rearrange", "diag", "diagflat")
def diag(d, f):
    self = d.tensor(d.shape(1, 2) if f.base == "diag" else d.shape(), d.any_dtype())
    name = f.arguments[1]["name"]
    return {"self": self, name: d.randint(-3, 3)} if d.coin(0.7) else {"self": self}


@generates("backward", "select_backward", "slice_backward", "diagonal_backward", "unfold_backward")
def view_backward(d, f):
    sizes = d.shape(2, 3, zero=False)
    axis = d.randrange(len(sizes))
    if f.base == "select_backward":
        shape = sizes[:axis] + sizes[axis + 1:]
        return {"grad_output": d.tensor(shape), "input_sizes": sizes, "dim": axis,
                "index": d.randrange(sizes[axis])}
    if f.base == "slice_backward":
        start, step = d.randrange(sizes[axis]), d.randint(1, 2)
        length = math.ceil((sizes[axis] - start) / step)
        return {"grad_output": d.tensor(sizes[:axis] + [length] + sizes[axis + 1:]),
                "input_sizes": sizes, "dim": axis, "start": start, "end": sizes[axis],
                "step": step}
    if f.base == "diagonal_backward":
        sizes = d.shape(2, 2, zero=False)
        return {"grad_output": d.tensor([min(sizes)]), "input_sizes": sizes, "offset": 0,
                "dim1": 0, "dim2": 1}
    size, step = d.randint(1, sizes[axis]), d.randint(1, 2)
    count = (sizes[axis] - size) // step + 1
    return {"grad_in": d.tensor(sizes[:axis] + [count] + sizes[axis + 1:] + [size]),
            "input_sizes": sizes, "dim": axis, "size": size, "step": step}

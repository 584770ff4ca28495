"""Indexing: gather, scatter, masks, embedding."""
import itertools

import torch

from cases import generates


def index_list(d, shape):
    """Positions, masks and None for the dimensions of a tensor, as x[i, :, mask] gives them."""
    common, indices, axis = d.shape(0, 2), [], 0
    while axis < len(shape) and (not indices or d.coin(0.6)):
        kind = d.choice(("positions", "positions", "none", "mask"))
        if kind == "none":
            indices.append(None)
        elif kind == "mask" and not any(i is not None for i in indices):
            indices.append(d.mask(shape[axis:axis + 1]))
            common = [int(indices[-1].sum())]
        else:
            dtype = torch.int64 if d.coin(0.8) else torch.int32
            indices.append(d.indices(d.broadcastable(common), shape[axis], True, dtype))
        axis += 1
    if all(i is None for i in indices):
        indices[-1] = d.indices(common, shape[axis - 1], True)
    return indices


@generates("index", "index")
def index(d, f):
    self = d.tensor(d.shape(1, 4, zero=False), d.any_dtype())
    return {"self": self, "indices": index_list(d, self.shape)}


@generates("index", "index_put")
def index_put(d, f):
    self = d.tensor(d.shape(1, 3, zero=False), d.any_dtype())
    indices, accumulate = index_list(d, self.shape), d.coin() and self.dtype != torch.bool
    if not accumulate:  # with duplicates the winner is not defined
        axis = d.randrange(self.dim())
        count = d.randint(0, self.shape[axis])
        indices = [None] * axis + [d.permutation(self.shape[axis])[:count]]
    result = torch.ops.aten.index.Tensor(self.detach(), indices)
    values = d.tensor(d.broadcastable(result.shape), self.dtype)
    return {"self": self, "indices": indices, "values": values, "accumulate": accumulate}


@generates("index", "index_select")
def index_select(d, f):
    self = d.tensor(d.shape(0, 4, zero=False), d.any_dtype())
    axis = d.axis(self.dim())
    below = self.shape[axis] if self.dim() else 1
    dtype = torch.int64 if d.coin(0.7) else torch.int32
    return {"self": self, "dim": axis, "index": d.indices([d.randint(0, 5)], below, dtype=dtype)}


@generates("index", "index_add", "index_copy", "index_fill")
def index_write(d, f):
    self = d.tensor(d.shape(1, 3, zero=False), d.any_dtype())
    axis = d.axis(self.dim())
    size = self.shape[axis]
    index = d.indices([d.randint(0, 4)], size) if f.base == "index_add" else \
        d.permutation(size)[:d.randint(0, size)]
    given = {"self": self, "dim": axis, "index": index}
    if f.base == "index_fill":
        value = d.tensor([], self.dtype) if f.overload == "int_Tensor" else d.scalar()
        return {**given, "value": value}
    shape = list(self.shape)
    shape[axis] = len(index)
    given["source"] = d.tensor(shape, self.dtype)
    if f.base == "index_add" and d.coin():
        given["alpha"] = d.scalar(kinds="if")
    return given


def along(d, least=1):
    """self, an axis, and an index that fits along it."""
    self = d.tensor(d.shape(least, 3, zero=False), d.any_dtype())
    axis = d.axis(self.dim())
    shape = [d.randint(1, s) for s in self.shape]
    if shape:
        shape[axis] = d.randint(0, 5)
    return self, axis, shape


@generates("index", "gather")
def gather(d, f):
    self, axis, shape = along(d, 0)
    below = self.shape[axis] if self.dim() else 1
    return {"self": self, "dim": axis, "index": d.indices(shape, below)}


@generates("index", "take_along_dim")
def take_along_dim(d, f):
    self, axis, shape = along(d)
    if d.coin(0.2):
        return {"self": self, "indices": d.indices([d.randint(1, 4)], self.numel(), True)}
    shape = [1 if d.coin(0.3) else s for s in self.shape]
    shape[axis] = d.randint(0, 5)
    return {"self": self, "indices": d.indices(shape, self.shape[axis], True), "dim": axis}


@generates("index", "scatter", "scatter_add")
def scatter(d, f):
    self, axis, shape = along(d)
    size = self.shape[axis]
    adds = f.base == "scatter_add" or "reduce" in f.overload
    if adds:
        index = d.indices(shape, size)
    else:  # positions along the axis once each, or the winner is not defined
        shape[axis] = d.randint(0, size)
        index = torch.empty(shape, dtype=torch.int64)
        lines = index.movedim(axis, -1)
        for place in itertools.product(*(range(n) for n in lines.shape[:-1])):
            lines[place] = d.permutation(size)[:shape[axis]]
    given = {"self": self, "dim": axis, "index": index}
    if "value" in f.overload:
        given["value"] = d.scalar()
    else:
        given["src"] = d.tensor([s + d.randint(0, 1) for s in shape], self.dtype)
    if "reduce" in f.overload:
        given["reduce"] = d.choice(("add", "multiply"))
        d.gradients = False  # PyTorch has no gradient of multiply
        given = {k: v.detach() if isinstance(v, torch.Tensor) else v for k, v in given.items()}
    return given


@generates("index", "take", "put")
def take(d, f):
    self = d.tensor(d.shape(0, 3, zero=False), d.any_dtype())
    n, accumulate = self.numel(), d.coin()
    if f.base == "take":
        return {"self": self, "index": d.indices(d.shape(0, 2), n, True)}
    index = d.indices(d.shape(0, 2), n, True) if accumulate else \
        d.permutation(n)[:d.randint(0, n)]
    return {"self": self, "index": index, "source": d.tensor([index.numel()], self.dtype),
            "accumulate": accumulate}


@generates("index", "masked_select")
def masked_select(d, f):
    self = d.tensor(d.shape(), d.any_dtype())
    return {"self": self, "mask": d.mask(d.broadcastable(self.shape))}


@generates("index", "masked_scatter")
def masked_scatter(d, f):
    self = d.tensor(d.shape(), d.any_dtype())
    return {"self": self, "mask": d.mask(d.broadcastable(self.shape)),
            "source": d.tensor([self.numel() + 2], self.dtype)}


@generates("backward", "masked_scatter_backward")
def masked_scatter_backward(d, f):
    shape = d.shape(1, zero=False)
    return {"grad_output": d.tensor(shape), "mask": d.mask(shape), "sizes": shape}


@generates("index", "nonzero", "nonzero_numpy", "argwhere")
def nonzero(d, f):
    d.ties = d.coin()
    return {"self": d.tensor(d.shape(), d.any_dtype(), grad=False)}


@generates("index", "one_hot")
def one_hot(d, f):
    self = d.indices(d.shape(0, 3), 5)
    return {"self": self, "num_classes": d.randint(5, 8)} if d.coin() else {"self": self}


@generates("index", "embedding")
def embedding(d, f):
    rows = d.randint(2, 6)
    given = {"weight": d.tensor([rows, d.randint(1, 5)]),
             "indices": d.indices(d.shape(0, 3), rows,
                                  dtype=torch.int64 if d.coin(0.7) else torch.int32)}
    if d.coin():
        given.update(padding_idx=d.randrange(rows), scale_grad_by_freq=d.coin())
    return given


@generates("backward", "embedding_dense_backward")
def embedding_backward(d, f):
    d.special = False
    shape = d.shape(1, 2)
    return {"grad_output": d.tensor(shape + [3]), "indices": d.indices(shape, 4), "num_weights": 4,
            "padding_idx": d.choice((-1, 2)), "scale_grad_by_freq": d.coin()}

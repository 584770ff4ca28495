"""Random inputs: tensors of every dtype and layout, sizes, axes, numbers."""
import math
import random

import torch

FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
INTS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
ALL = FLOATS + INTS + (torch.bool,)


class Draw(random.Random):
    """One case's source of randomness. `gradients` says whether its tensors may require grad."""

    def __init__(self, seed):
        super().__init__(seed)
        self.gradients = self.random() < 0.6
        self.special = self.random() < 0.12   # NaN and infinities
        self.ties = self.random() < 0.15      # floats that are integers
        self.dtype = self.pick_float()

    def pick_float(self):
        return self.choices(FLOATS, (14, 4, 1, 1))[0]

    def coin(self, p=0.5):
        return self.random() < p

    def any_dtype(self):
        return self.pick_float() if self.coin(0.6) else self.choice(INTS + (torch.bool,))

    def shape(self, low=0, high=4, zero=True):
        """Mostly small sizes; now and then a size of 1 or 0, or a row longer than a vector."""
        sizes = [self.choice((1, 2, 3, 4, 5)) for _ in range(self.randint(low, high))]
        if sizes and self.coin(0.12):
            sizes[-1] = self.choice((17, 33, 70))
        if sizes and zero and self.coin(0.05):
            sizes[self.randrange(len(sizes))] = 0
        return sizes

    def broadcastable(self, shape):
        sizes = list(shape[self.randint(0, len(shape)) if self.coin(0.4) else 0:])
        return [1 if self.coin(0.2) else s for s in sizes]

    def spread(self, shape, parts):
        """Shapes that broadcast to `shape` together."""
        return [list(shape)] + [self.broadcastable(shape) for _ in range(parts - 1)]

    def numbers(self, shape, dtype, low, high):
        n = math.prod(shape)
        if dtype == torch.bool:
            return torch.tensor([self.coin() for _ in range(n)], dtype=dtype).reshape(shape)
        if not dtype.is_floating_point:
            least = max(math.ceil(low), 0 if dtype == torch.uint8 else -100)
            most = max(least, math.floor(high))
            return torch.tensor([self.randint(least, most) for _ in range(n)],
                                dtype=dtype).reshape(shape)
        values = [self.uniform(low, high) for _ in range(n)]
        if self.ties:
            values = [float(min(max(round(v), low), high)) for v in values]
        if self.special and n:
            for special in (math.inf, -math.inf, math.nan):
                values[self.randrange(n)] = special
        return torch.tensor(values, dtype=torch.float64).to(dtype).reshape(shape)

    def laid_out(self, t):
        kind = self.choices(("plain", "permuted", "stepped", "expanded"), (60, 18, 14, 8))[0]
        if kind == "plain" or t.dim() == 0:
            return t
        if kind == "expanded":
            axis = self.randrange(t.dim())
            if t.shape[axis] < 2:
                return t
            return t.narrow(axis, 0, 1).clone().expand(t.shape)
        order = self.sample(range(t.dim()), t.dim()) if kind == "permuted" else range(t.dim())
        strides, step = [0] * t.dim(), 2 if kind == "stepped" else 1
        for axis in reversed(list(order)):
            strides[axis] = step
            step *= max(t.shape[axis], 1)
        return torch.empty_strided(t.shape, strides, dtype=t.dtype).copy_(t)

    def tensor(self, shape, dtype=None, low=-2.5, high=2.5, grad=True, layout=True):
        dtype = dtype or self.dtype
        t = self.numbers(list(shape), dtype, low, high)
        if layout:
            t = self.laid_out(t).data  # no view: in-place functions treat views differently
        if grad and self.gradients and dtype.is_floating_point and self.coin(0.8):
            t.requires_grad_()
        return t

    def indices(self, shape, below, negative=False, dtype=torch.int64):
        n = math.prod(shape)
        least = -below if negative else 0
        values = [self.randint(least, below - 1) if below else 0 for _ in range(n)]
        return self.laid_out(torch.tensor(values, dtype=dtype).reshape(list(shape)))

    def permutation(self, n):
        return torch.tensor(self.sample(range(n), n), dtype=torch.int64)

    def mask(self, shape):
        return self.laid_out(self.numbers(list(shape), torch.bool, 0, 1))

    def axis(self, rank):
        """An axis of a tensor of this rank, from either end; zero-dim tensors have 0 and -1."""
        return self.randint(-max(rank, 1), max(rank, 1) - 1)

    def axes(self, rank, least=0):
        if rank == 0:
            return []
        chosen = self.sample(range(rank), self.randint(min(least, rank), rank))
        return [a - rank if self.coin(0.3) else a for a in chosen]

    def scalar(self, low=-3, high=3, kinds="ifb"):
        kind = self.choice(kinds)
        if kind == "b":
            return self.coin()
        return self.randint(math.ceil(low), math.floor(high)) if kind == "i" else \
            round(self.uniform(low, high), 3)

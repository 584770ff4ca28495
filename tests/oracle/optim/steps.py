"""Optimisers of both libraries in one process, on a small network and the same data."""
import numpy

STEPS = 50


class Training:
    """A network, its optimiser, and the data of all steps, under one library."""

    def __init__(self, lib, kind, settings, dtype, matrices=False):
        self.lib, self.dtype = lib, getattr(lib, dtype)
        draw = numpy.random.default_rng(5)
        shapes = {"w1": (8, 16), "b1": (16,), "w2": (16, 3), "unused": (4, 2), "s": ()}
        self.p = {name: lib.nn.Parameter(self.tensor(draw.normal(size=shape)))
                  for name, shape in shapes.items()}
        self.data = [[self.tensor(draw.normal(size=shape)) for shape in ((12, 8), (12, 3))]
                     for _ in range(STEPS)]
        self.kind, self.settings = getattr(lib.optim, kind), settings
        keep = ("w1", "w2") if matrices else tuple(shapes)
        self.trained = [self.p[name] for name in keep]
        self.optimizer = self.made()

    def tensor(self, array):
        return self.lib.tensor(array.tolist(), dtype=self.dtype)

    def made(self):
        half = len(self.trained) // 2
        groups = [{"params": self.trained[:half]}, {"params": self.trained[half:], "lr": 3e-2}]
        return self.kind(groups, **self.settings)

    def loss(self, x, y):
        p = self.p
        hidden = (x @ p["w1"] + p["b1"]).tanh()
        return ((hidden @ p["w2"]).tanh() * p["s"].cos() - y).pow(2).mean()

    def steps(self, first, last):
        for x, y in self.data[first:last]:
            self.optimizer.zero_grad()
            self.loss(x, y).backward()
            self.optimizer.step()

    def compiled(self, lib, kind, steps):
        """The same steps with compile_step, of foregrad alone."""
        settings = {k: v for k, v in self.settings.items() if k not in ("foreach", "fused")}
        half = len(self.trained) // 2
        step = lib.compiler.compile_step(
            self.loss, [{"params": self.trained[:half]},
                        {"params": self.trained[half:], "lr": 3e-2}],
            getattr(lib.compiler, kind)(**settings), fullgraph=True)
        for x, y in self.data[:steps]:
            step(x, y)
        return step

    def values(self):
        return {name: array(p) for name, p in self.p.items()}


def array(value):
    return numpy.asarray(value.detach().tolist() if hasattr(value, "tolist") else value,
                         dtype=numpy.float64)


def plain(state):
    """A state dict without tensors."""
    if hasattr(state, "tolist"):
        return array(state)
    if isinstance(state, dict):
        return {key: plain(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return [plain(value) for value in state]
    return state


def translated(state, lib):
    """A state dict with the tensors of another library, in the same dtypes."""
    if hasattr(state, "tolist"):
        dtype = getattr(lib, str(state.dtype).split(".")[-1])
        return lib.tensor(state.detach().tolist(), dtype=dtype)
    if isinstance(state, dict):
        return {key: translated(value, lib) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)(translated(value, lib) for value in state)
    return state


def distance(a, b):
    """The largest difference relative to the largest element; infinite for another structure."""
    if isinstance(b, dict):
        if not isinstance(a, dict) or a.keys() != b.keys():
            return float("inf")
        return max([distance(a[key], b[key]) for key in b], default=0.0)
    if isinstance(b, (list, tuple)):
        if not isinstance(a, (list, tuple)) or len(a) != len(b):
            return float("inf")
        return max([distance(x, y) for x, y in zip(a, b)], default=0.0)
    if isinstance(b, (numpy.ndarray, float)) or (isinstance(b, int) and not isinstance(b, bool)):
        a, b = numpy.asarray(a, dtype=float), numpy.asarray(b, dtype=float)
        if a.shape != b.shape:
            return float("inf")
        return float(numpy.abs(a - b).max() / max(numpy.abs(b).max(), 1e-30)) if a.size else 0.0
    return 0.0 if a == b else float("inf")

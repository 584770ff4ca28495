"""Reductions, scans, softmax, sorting."""
from cases import generates
from draw import FLOATS


def dtype_option(d, given):
    if d.coin(0.25):
        given["dtype"] = d.any_dtype()
    return given


def with_axes(d, f, dtype):
    """self, dim and keepdim as the schema has them."""
    self = d.tensor(d.shape(), dtype)
    given = {"self": self}
    for a in f.arguments[1:]:
        if a["name"] == "keepdim" and d.coin():
            given["keepdim"] = d.coin()
        if a["name"] != "dim":
            continue
        if a["type"] in ("dims", "opt_dims"):
            if a["default"] is None or d.coin(0.7):
                given["dim"] = d.axes(self.dim())
                if a["type"] == "opt_dims" and d.coin(0.15):
                    given["dim"] = None
        elif a["default"] is None or d.coin(0.7):
            given["dim"] = d.axis(self.dim())
    return given


@generates("reduce", "sum", "prod", "mean")
def sums(d, f):
    given = with_axes(d, f, d.any_dtype() if f.base != "mean" else d.dtype)
    if f.base == "mean":
        return {**given, "dtype": d.pick_float()} if d.coin(0.2) else given
    return dtype_option(d, given)


@generates("reduce", "any", "all", "count_nonzero", "amax", "amin", "max", "max.dim", "min",
           "min.dim", "argmax", "argmin")
def order(d, f):
    d.ties = d.coin(0.3)
    given = with_axes(d, f, d.any_dtype())
    if f.base in ("any", "all", "count_nonzero"):
        given["self"] = given["self"].detach() * d.mask(given["self"].shape)
    return given


@generates("reduce", "logsumexp")
def logsumexp(d, f):
    return with_axes(d, f, d.dtype)


@generates("reduce", "var", "std", "var_mean", "std_mean")
def spread(d, f):
    given = with_axes(d, f, d.dtype)
    names = [a["name"] for a in f.arguments]
    if "correction" in names and d.coin(0.6):
        given["correction"] = d.choice((0, 1, 2, 0.5, None))
    if "unbiased" in names:
        given["unbiased"] = d.coin()
    return given


@generates("reduce", "norm", "linalg_vector_norm")
def norms(d, f):
    given = with_axes(d, f, d.dtype)
    order = "p" if f.base == "norm" else "ord"
    if d.coin(0.7):
        given[order] = d.choice((2, 1, 0, 3, 0.5, float("inf"), float("-inf"), -1, 2.5))
    if d.coin(0.15):
        given["dtype"] = d.choice(FLOATS[:2])
    return given


@generates("scan", "cumsum", "cumprod")
def scan(d, f):
    d.ties = d.coin(0.3)  # zeros matter to cumprod's gradient
    self = d.tensor(d.shape(), d.any_dtype())
    return dtype_option(d, {"self": self, "dim": d.axis(self.dim())})


@generates("softmax", "softmax", "log_softmax", "_safe_softmax")
def softmax(d, f):
    self = d.tensor(d.shape(), d.dtype)
    given = {"self": self, "dim": d.axis(self.dim())}
    if d.coin(0.2):
        given["dtype"] = d.choice(FLOATS[:2])
    return given


@generates("backward", "softmax_backward", "log_softmax_backward")
def softmax_backward(d, f):
    d.special = False
    output = d.tensor(d.shape(1, zero=False), d.dtype, 0, 1)  # PyTorch dies on empty ones
    return {"grad_output": d.tensor(output.shape), "output": output, "dim": d.axis(output.dim())}


@generates("sort", "sort", "argsort", "msort")
def sort(d, f):
    stable = f.overload == "stable"
    d.ties = stable and d.coin()
    d.special = d.special and d.coin()
    self = d.tensor(d.shape(1 if f.base == "msort" else 0), d.any_dtype() if stable else d.dtype,
                    layout=stable)
    given = {"self": self}
    if stable:
        given["stable"] = True
    if f.base != "msort" and d.coin(0.7):
        given.update(dim=d.axis(self.dim()), descending=d.coin())
    return given


@generates("sort", "topk")
def topk(d, f):
    d.ties = d.special = False
    self = d.tensor(d.shape(), d.dtype, layout=False)  # expanded tensors have ties
    axis = d.axis(self.dim())
    size = self.shape[axis] if self.dim() else 1
    given = {"self": self, "k": d.randint(0, size), "dim": axis}
    if d.coin():
        given["largest"] = d.coin()
    return given

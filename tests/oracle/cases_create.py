"""Creation and random numbers."""
from cases import generates
from draw import FLOATS, INTS


def dtype_option(d, given, choices=None):
    if d.coin():
        given["dtype"] = d.choice(choices) if choices else d.any_dtype()
    return given


@generates("create", "empty", "zeros", "ones", "full", "empty_strided")
def create(d, f):
    size = d.shape()
    given = {"size": size}
    if f.base == "full":
        given["fill_value"] = d.scalar()
    if f.base == "empty_strided":
        given["stride"] = [d.randint(0, 6) for _ in size]
    return dtype_option(d, given)


@generates("create", "empty_like", "zeros_like", "ones_like", "full_like", "new_empty", "new_zeros",
           "new_ones", "new_full")
def like(d, f):
    given = {"self": d.tensor(d.shape(), d.any_dtype())}
    if f.base.startswith("new"):
        given["size"] = d.shape()
    if "full" in f.base:
        given["fill_value"] = d.scalar()
    return dtype_option(d, given)


@generates("create", "arange")
def arange(d, f):
    kinds = d.choice(("i", "if"))
    start, step = d.scalar(-9, 9, kinds), d.choice((1, 2, 3, 0.5, 0.3) if kinds == "if" else
                                                   (1, 2, 3))
    length = d.randint(0, 12)
    if f.overload == "start_step":
        step = -step if d.coin(0.3) else step
        given = {"start": start, "end": start + step * length, "step": step}
    elif f.overload == "start":
        given = {"start": start, "end": start + length}
    else:
        given = {"end": d.scalar(0, 9, kinds)}
    return dtype_option(d, given, FLOATS[:2] + INTS)


@generates("create", "linspace", "logspace")
def linspace(d, f):
    given = {"start": d.scalar(-3, 3, "if"), "end": d.scalar(-3, 3, "if"),
             "steps": d.choice((0, 1, 2, 5, 17, 40))}
    if f.base == "logspace" and d.coin():
        given["base"] = d.choice((2.0, 3.5))
    return dtype_option(d, given, FLOATS)


@generates("create", "eye")
def eye(d, f):
    given = {"n": d.randint(0, 6)}
    if f.overload == "m":
        given["m"] = d.randint(0, 6)
    return dtype_option(d, given)


# Random functions draw many numbers, because distributions are compared.
@generates("random", "rand", "randn", "randint", "randperm")
def random_create(d, f):
    names = [a["name"] for a in f.arguments]
    given = {"size": d.choice(([20, 30], [600], [0, 3]))} if "size" in names else \
        {"n": d.choice((0, 1, 500))}
    if "high" in names:
        given["high"] = d.choice((2, 10, 120))
    if "low" in names:
        given["low"] = d.randint(-5, 1)
    return dtype_option(d, given, FLOATS[:2] if f.base in ("rand", "randn") else
                        (FLOATS + INTS[:3] if f.base == "randint" else INTS[:2]))


@generates("random", "rand_like", "randn_like", "randint_like", "uniform", "normal_functional",
           "log_normal", "exponential", "cauchy", "geometric", "random", "bernoulli.p")
def random_like(d, f):
    given = {"self": d.tensor([20, 30], grad=False)}
    if f.base == "random":
        given["self"] = d.tensor([20, 30], d.choice(INTS + FLOATS[:2]), grad=False)
    names = [a["name"] for a in f.arguments]
    low = d.randint(-3, 2)
    values = {"high": 9, "low": low, "p": 0.3, "lambd": 1.5, "from": low, "to": low + 5,
              "mean": 0.5, "std": 1.5, "median": 0.5, "sigma": 2.0}
    for a in f.arguments[1:]:
        if a["name"] in values and (a["default"] is None or d.coin()):
            given[a["name"]] = values[a["name"]]
    if "to" in given and "from" not in names:
        given["to"] = 6
    if f.base == "uniform" and ("from" in given) != ("to" in given):
        given.update({"from": -1.0, "to": 2.0})
    return given


@generates("random", "bernoulli", "bernoulli.Tensor", "poisson")
def chances(d, f):
    d.special = d.ties = False
    given = {"self": d.tensor([20, 30], low=0, high=1 if f.base == "bernoulli" else 6, grad=False,
                              layout=False)}
    if f.overload == "Tensor":
        given["p"] = d.tensor([20, 30], low=0, high=1, grad=False)
    return given


@generates("random", "normal")
def normal(d, f):
    d.special = d.ties = False
    given = {}
    for a in f.arguments:
        if a["name"] in ("mean", "std"):
            given[a["name"]] = d.tensor([20, 30], low=0.2, grad=False) if a["type"] == "tensor" \
                else 1.5
    if f.overload == "float_float":
        given["size"] = [20, 30]
    return given


@generates("random", "multinomial")
def multinomial(d, f):
    d.special = d.ties = False
    replacement = d.coin()
    return {"self": d.tensor([6], low=0.1, high=1, grad=False) if replacement else
            d.tensor([400], low=0.1, grad=False), "num_samples": 600 if replacement else 400,
            "replacement": replacement}

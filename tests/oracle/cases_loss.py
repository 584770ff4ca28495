"""Losses."""
from cases import generates


def reduction(d):
    return d.choice(("none", "mean", "sum"))


@generates("loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div")
def pointwise(d, f):
    a = d.tensor(d.shape())
    shape = d.broadcastable(a.shape) if f.base not in ("huber_loss",) and d.coin(0.2) else a.shape
    given = {"self": a, "target": d.tensor(shape, low=0.05, high=2)}
    if d.coin(0.8):
        given["reduction"] = reduction(d)
    for name in ("beta", "delta"):
        if name in [x["name"] for x in f.arguments] and d.coin():
            given[name] = d.uniform(0.2, 2)
    if f.base == "kl_div":
        given["log_target"] = d.coin()
    return given


@generates("loss", "binary_cross_entropy", "binary_cross_entropy_with_logits")
def binary(d, f):
    logits = f.base.endswith("logits")
    d.special = d.ties = False
    shape = d.shape()
    given = {"self": d.tensor(shape, low=-4 if logits else 0, high=4 if logits else 1),
             "target": d.tensor(shape, low=0, high=1)}
    if d.coin(0.4):
        given["weight"] = d.tensor(d.broadcastable(shape), low=0.1, grad=False)
    if logits and d.coin(0.4):
        given["pos_weight"] = d.tensor(d.broadcastable(shape), low=0.1, grad=False)
    if d.coin(0.8):
        given["reduction"] = reduction(d)
    return given


@generates("loss", "nll_loss", "nll_loss2d", "cross_entropy")
def classes(d, f):
    d.special = False
    count, batch = d.randint(2, 5), d.randint(1, 4)
    image = d.shape(0, 2, zero=False) if d.coin(0.5) else []
    if f.base == "nll_loss2d":
        image = d.shape(2, 2, zero=False)
    alone = not image and d.coin(0.2)
    self = d.tensor([count] if alone else [batch, count] + image)
    target = d.indices([] if alone else [batch] + image, count)
    given = {"self": self, "target": target}
    probabilities = f.base == "cross_entropy" and d.coin(0.3)
    if probabilities:
        given["target"] = d.tensor(self.shape, low=0, high=1)
    if d.coin(0.4):
        given["weight"] = d.tensor([count], low=0.1, grad=False, layout=False)
    if d.coin(0.3) and not probabilities:
        given["ignore_index"] = d.randrange(count)
    if d.coin(0.8):
        given["reduction"] = reduction(d)
    if f.base == "cross_entropy" and d.coin(0.4):
        given["label_smoothing"] = d.choice((0.1, 0.3))
    return given


@generates("backward", "mse_loss_backward", "smooth_l1_loss_backward", "huber_loss_backward",
           "binary_cross_entropy_backward")
def loss_backward(d, f):
    d.special = False
    shape = d.shape(1)
    given = {"self": d.tensor(shape, low=0.05, high=0.95),
             "target": d.tensor(shape, low=0.05, high=0.95), "grad_output": d.tensor(shape)}
    for argument in f.arguments[3:]:
        name = argument["name"]
        given[name] = "none" if name == "reduction" else d.uniform(0.2, 2)
    return given


@generates("backward", "threshold_backward", "hardtanh_backward", "leaky_relu_backward",
           "elu_backward", "gelu_backward", "silu_backward", "mish_backward", "softplus_backward",
           "sigmoid_backward", "tanh_backward")
def activation_backward(d, f):
    d.special = False
    shape = d.shape()
    given = {f.arguments[0]["name"]: d.tensor(shape), f.arguments[1]["name"]: d.tensor(shape)}
    for argument in f.arguments[2:]:
        name = argument["name"]
        given[name] = {"approximate": d.choice(("none", "tanh")), "min_val": -1.0,
                       "threshold": d.uniform(0.5, 20)}.get(name, d.uniform(0.2, 1.5))
    return given



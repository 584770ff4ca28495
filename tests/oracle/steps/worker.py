"""Trains a small network with every optimiser and prints where it gets, under one library.

usage: worker.py torch|foregrad; a line of JSON per case and dtype: losses, norms, parameters.
"""
import json
import sys

import numpy

STEPS = 50
FIRST_RATE = 1e-2  # Rprop and ASGD begin with it
# name: (optimiser, its settings, clipping)
CASES = {
    "adamw": ("AdamW", {}, {}),
    "adamw settings": ("AdamW", dict(betas=(0.8, 0.95), eps=1e-3, weight_decay=0.3), {}),
    "adamw no decay": ("AdamW", dict(weight_decay=0), {}),
    "adamw amsgrad": ("AdamW", dict(amsgrad=True), {}),
    "adamw maximize": ("AdamW", dict(maximize=True), {}),
    "adam": ("Adam", {}, {}),
    "adam decay": ("Adam", dict(weight_decay=0.1), {}),
    "adam amsgrad": ("Adam", dict(amsgrad=True, maximize=True, weight_decay=0.1), {}),
    "sgd": ("SGD", {}, {}),
    "sgd decay": ("SGD", dict(weight_decay=0.1), {}),
    "sgd momentum": ("SGD", dict(momentum=0.9), {}),
    "sgd dampening": ("SGD", dict(momentum=0.9, dampening=0.4, weight_decay=0.01), {}),
    "sgd nesterov": ("SGD", dict(momentum=0.8, nesterov=True, weight_decay=0.01), {}),
    "sgd maximize": ("SGD", dict(momentum=0.5, maximize=True, weight_decay=0.1), {}),
    "rmsprop": ("RMSprop", dict(weight_decay=0.1), {}),
    "rmsprop all": ("RMSprop", dict(alpha=0.9, momentum=0.5, centered=True, maximize=True), {}),
    "adagrad": ("Adagrad", dict(lr_decay=0.1, weight_decay=0.01), {}),
    "adagrad start": ("Adagrad", dict(initial_accumulator_value=0.5, eps=1e-3), {}),
    "rmsprop momentum": ("RMSprop", dict(momentum=0.9, eps=1e-4), {}),
    "adagrad maximize": ("Adagrad", dict(maximize=True), {}),
    "adadelta": ("Adadelta", {}, {}),
    "adadelta decay": ("Adadelta", dict(rho=0.8, weight_decay=0.1), {}),
    "adadelta maximize": ("Adadelta", dict(eps=1e-3, maximize=True), {}),
    "adafactor": ("Adafactor", {}, {}),
    "adafactor decay": ("Adafactor", dict(beta2_decay=-0.5, weight_decay=0.1), {}),
    "adafactor eps": ("Adafactor", dict(eps=(1e-5, 1e-2), d=2.0, maximize=True), {}),
    "adamax": ("Adamax", {}, {}),
    "adamax decay": ("Adamax", dict(betas=(0.8, 0.9), weight_decay=0.1), {}),
    "adamax maximize": ("Adamax", dict(eps=1e-2, maximize=True), {}),
    "asgd": ("ASGD", {}, {}),
    "asgd average": ("ASGD", dict(lambd=1e-2, alpha=0.5, t0=5), {}),
    "asgd decay": ("ASGD", dict(t0=0, weight_decay=0.1, maximize=True), {}),
    "nadam": ("NAdam", {}, {}),
    "nadam decay": ("NAdam", dict(weight_decay=0.1, momentum_decay=0.01), {}),
    "nadam decoupled": ("NAdam", dict(weight_decay=0.1, decoupled_weight_decay=True), {}),
    "radam": ("RAdam", {}, {}),
    "radam decay": ("RAdam", dict(weight_decay=0.1, betas=(0.8, 0.9)), {}),
    "radam decoupled": ("RAdam", dict(weight_decay=0.1, decoupled_weight_decay=True), {}),
    "rprop": ("Rprop", {}, {}),
    "rprop sizes": ("Rprop", dict(etas=(0.4, 1.1), step_sizes=(1e-4, 0.1)), {}),
    "rprop maximize": ("Rprop", dict(maximize=True), {}),
    "adamw clip norm": ("AdamW", {}, dict(clip_norm=0.05)),
    "sgd clip norm": ("SGD", {}, dict(clip_norm=0.05)),
    "sgd clip large norm": ("SGD", {}, dict(clip_norm=1e6)),
    "adamw clip value": ("AdamW", {}, dict(clip_value=0.01)),
}


def rate(step):
    """A schedule: up, then down."""
    return 1e-2 * min((step + 1) / 10, 1.0, (STEPS - step) / 20)


def start(library, dtype):
    """Parameters, of which one gets no gradient and one is frozen, and the data of all steps."""
    draw = numpy.random.default_rng(5)
    shapes = {"w1": (8, 16), "b1": (16,), "w2": (16, 3), "unused": (4,), "frozen": (3,)}
    parameters = {name: library.tensor(draw.normal(size=shape).tolist(), dtype=dtype)
                  for name, shape in shapes.items()}
    for name, parameter in parameters.items():
        parameter.requires_grad_(name != "frozen")
    data = [[library.tensor(draw.normal(size=shape).tolist(), dtype=dtype)
             for shape in ((12, 8), (12, 3))] for _ in range(STEPS)]
    return parameters, data


def loss_of(p):
    def loss(x, y):
        hidden = (x @ p["w1"] + p["b1"]).tanh()
        return (hidden @ p["w2"] + p["frozen"] - y).pow(2).mean()

    return loss


def groups_of(p, kind):
    """Biases do not decay."""
    no_decay = {} if kind == "Rprop" else {"weight_decay": 0.0}
    return [{"params": [p["w1"], p["w2"], p["unused"], p["frozen"]]},
            {"params": [p["b1"]], **no_decay}]


def torch_step(torch, p, kind, settings, clip):
    optimizer = getattr(torch.optim, kind)(groups_of(p, kind), lr=FIRST_RATE, **settings)
    loss_fn = loss_of(p)

    def step(lr, x, y):
        for group in optimizer.param_groups:
            group["lr"] = lr
        optimizer.zero_grad()
        loss = loss_fn(x, y)
        loss.backward()
        norm = None
        if "clip_norm" in clip:
            norm = torch.nn.utils.clip_grad_norm_(p.values(), clip["clip_norm"])
        if "clip_value" in clip:
            torch.nn.utils.clip_grad_value_(p.values(), clip["clip_value"])
        optimizer.step()
        return loss.item(), None if norm is None else norm.item()

    return step, optimizer


def our_step(fg, p, kind, settings, clip):
    compiled = fg.compiler.compile_step(loss_of(p), groups_of(p, kind),
                                        getattr(fg.compiler, kind)(lr=FIRST_RATE, **settings),
                                        fullgraph=True, **clip)

    def step(lr, x, y):
        compiled.lr = lr
        loss = compiled(x, y)
        return loss.item(), None if compiled.grad_norm is None else compiled.grad_norm.item()

    return step, compiled


def states_of(state_dict):
    return {str(i): {name: value.tolist() for name, value in state.items() if value is not None}
            for i, state in state_dict["state"].items()}


def main():
    name = sys.argv[1]
    library = __import__(name)
    if name == "foregrad":
        import foregrad.compiler  # noqa: F401
    make = torch_step if name == "torch" else our_step
    for case, (kind, settings, clip) in CASES.items():
        for dtype in ("float64", "float32"):
            p, data = start(library, getattr(library, dtype))
            step, optimizer = make(library, p, kind, settings, clip)
            seen = [step(rate(i), x, y) for i, (x, y) in enumerate(data)]
            states = {i: state for i, state in states_of(optimizer.state_dict()).items() if state}
            print(json.dumps({"case": case, "dtype": dtype, "seen": seen, "states": states,
                              "parameters": {n: t.tolist() for n, t in p.items()}}))


if __name__ == "__main__":
    main()

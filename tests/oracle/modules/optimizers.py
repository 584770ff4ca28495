"""Optimisers over 50 steps, schedules over 100."""
import numpy

STEPS = 50
OPTIMIZERS = {
    "sgd": ("SGD", {}), "sgd momentum": ("SGD", dict(momentum=0.9)),
    "sgd dampening": ("SGD", dict(momentum=0.9, dampening=0.3, weight_decay=0.01)),
    "sgd nesterov": ("SGD", dict(momentum=0.8, nesterov=True)),
    "sgd maximize": ("SGD", dict(momentum=0.5, maximize=True, weight_decay=0.1)),
    "sgd decay": ("SGD", dict(weight_decay=0.1)),
    "adam": ("Adam", {}), "adam decay": ("Adam", dict(weight_decay=0.1)),
    "adam amsgrad": ("Adam", dict(amsgrad=True, betas=(0.8, 0.95))),
    "adam maximize": ("Adam", dict(maximize=True, weight_decay=0.1)),
    "adam decoupled": ("Adam", dict(weight_decay=0.1, decoupled_weight_decay=True)),
    "adamw": ("AdamW", {}), "adamw decay": ("AdamW", dict(weight_decay=0.3, eps=1e-3)),
    "adamw amsgrad": ("AdamW", dict(amsgrad=True)), "adamw maximize": ("AdamW",
                                                                       dict(maximize=True)),
    "rmsprop": ("RMSprop", {}), "rmsprop decay": ("RMSprop", dict(weight_decay=0.1, alpha=0.9)),
    "rmsprop momentum": ("RMSprop", dict(momentum=0.9, eps=1e-4)),
    "rmsprop centered": ("RMSprop", dict(centered=True, maximize=True)),
    "rmsprop all": ("RMSprop", dict(centered=True, momentum=0.5, weight_decay=0.01)),
    "adagrad": ("Adagrad", {}), "adagrad decay": ("Adagrad", dict(lr_decay=0.1, weight_decay=0.1)),
    "adagrad start": ("Adagrad", dict(initial_accumulator_value=0.5, eps=1e-3)),
    "adagrad maximize": ("Adagrad", dict(maximize=True)),
}
CLIPS = {"": None, " norm": ("clip_grad_norm_", 0.05, {}),
         " norm inf": ("clip_grad_norm_", 0.05, {"norm_type": float("inf")}),
         " norm 1": ("clip_grad_norm_", 0.2, {"norm_type": 1.0}),
         " value": ("clip_grad_value_", 0.01, {})}
SCHEDULES = {
    "lambda": "LambdaLR(o, lambda e: 0.95 ** e)",
    "lambdas": "LambdaLR(o, [lambda e: 0.9 ** e, lambda e: 1 / (e + 1)])",
    "multiplicative": "MultiplicativeLR(o, lambda e: 0.97)",
    "step": "StepLR(o, 7, 0.5)", "multi": "MultiStepLR(o, [5, 20, 20, 60], 0.3)",
    "exponential": "ExponentialLR(o, 0.95)", "constant": "ConstantLR(o, 0.25, 9)",
    "linear": "LinearLR(o, 0.1, 0.9, 30)", "linear default": "LinearLR(o)",
    "cosine": "CosineAnnealingLR(o, 40, 1e-3)", "cosine short": "CosineAnnealingLR(o, 7)",
    "cosine one": "CosineAnnealingLR(o, 100)",
    "restarts": "CosineAnnealingWarmRestarts(o, 10, 2, 1e-3)",
    "restarts equal": "CosineAnnealingWarmRestarts(o, 9)",
    "one cycle": "OneCycleLR(o, 0.5, total_steps=120)",
    "one cycle linear": "OneCycleLR(o, [0.5, 1.0], epochs=10, steps_per_epoch=12, "
                        "anneal_strategy='linear', three_phase=True, pct_start=0.25)",
    "one cycle rate": "OneCycleLR(o, 0.5, 101, cycle_momentum=False, div_factor=5.0)",
    "sequence": "SequentialLR(o, [s.LinearLR(o, 0.1, 1.0, 10), s.CosineAnnealingLR(o, 80)], [10])",
    "sequence of three": "SequentialLR(o, [s.ConstantLR(o, 0.5, 4), s.ExponentialLR(o, 0.9), "
                         "s.StepLR(o, 5)], [6, 30])",
}
PLATEAUS = ["ReduceLROnPlateau(o, patience=3)", "ReduceLROnPlateau(o, 'max', 0.5, 2, cooldown=2)",
            "ReduceLROnPlateau(o, threshold_mode='abs', threshold=0.1, patience=1, min_lr=1e-3)",
            "ReduceLROnPlateau(o, patience=0, min_lr=[0.01, 0.001], eps=1e-3)"]


def model(lib, draw):
    made = lib.nn.Sequential(lib.nn.Linear(8, 16), lib.nn.LayerNorm(16), lib.nn.Tanh(),
                             lib.nn.Linear(16, 3))
    made.load_state_dict({name: lib.tensor(draw.normal(size=tuple(t.shape)).tolist())
                          for name, t in made.state_dict().items()})
    return made.double()


def plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in sorted(value.items(), key=lambda item: str(item[0]))}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def train(lib, kind, settings, clip):
    draw = numpy.random.default_rng(5)
    net = model(lib, draw)
    groups = [{"params": list(net[0].parameters())},
              {"params": [p for m in list(net)[1:] for p in m.parameters()], "lr": 3e-3}]
    optimizer = getattr(lib.optim, kind)(groups, lr=1e-2, **settings)
    losses, norms = [], []
    for i in range(STEPS):
        x, y = (lib.tensor(draw.normal(size=size).tolist(), dtype=lib.float64)
                for size in ((12, 8), (12, 3)))
        optimizer.zero_grad()
        loss = lib.nn.functional.mse_loss(net(x), y)
        loss.backward()
        if clip:
            norm = getattr(lib.nn.utils, clip[0])(net.parameters(), clip[1], **clip[2])
            norms.append(None if norm is None else norm.item())
        optimizer.step()
        losses.append(loss.item())
        if i == STEPS // 2:  # through what is saved
            saved = optimizer.state_dict()
            optimizer = getattr(lib.optim, kind)(groups, lr=1.0)
            optimizer.load_state_dict(saved)
    state = optimizer.state_dict()
    return {"losses": losses, "norms": norms, "state": plain(state["state"]),
            "groups": plain(state["param_groups"]), "printed": repr(optimizer),
            "parameters": [p.tolist() for p in net.parameters()]}


def scheduled(lib, text, numbers=None):
    groups = [{"params": [lib.zeros(1, requires_grad=True)]},
              {"params": [lib.zeros(1, requires_grad=True)], "lr": 0.3}]
    optimizer = lib.optim.SGD(groups, lr=0.1, momentum=0.9)
    s = lib.optim.lr_scheduler
    schedule = eval(f"s.{text}", {"s": s, "o": optimizer})
    seen = [[g["lr"] for g in optimizer.param_groups]]
    for i in range(100):
        optimizer.step()
        schedule.step() if numbers is None else schedule.step(numbers[i])
        seen.append([[g["lr"], g["momentum"]] for g in optimizer.param_groups])
        if i == 50 and "lambda" not in text and "Sequential" not in text:
            saved = schedule.state_dict()
            schedule = eval(f"s.{text}", {"s": s, "o": optimizer})
            for group, (lr, momentum) in zip(optimizer.param_groups, seen[-1]):
                group["lr"], group["momentum"] = lr, momentum
            schedule.load_state_dict(saved)
    return {"first": seen[0], "rates": seen[1:], "last": list(schedule.get_last_lr())}


def cases(lib):
    for name, (kind, settings) in OPTIMIZERS.items():
        for end, clip in CLIPS.items():
            yield {"kind": "optimizer", "case": name + end, **train(lib, kind, settings, clip)}
    for name, text in SCHEDULES.items():
        yield {"kind": "schedule", "case": name, **scheduled(lib, text)}
    draw = numpy.random.default_rng(9)
    numbers = [1 / (1 + i // 9) + 0.05 * float(draw.normal()) for i in range(100)]
    for text in PLATEAUS:
        yield {"kind": "schedule", "case": text, **scheduled(lib, text, numbers)}

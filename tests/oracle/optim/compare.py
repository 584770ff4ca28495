"""Compares the optimisers, schedules and averages of both libraries; prints what differs.

Runs in a Python that has torch and this package. One line per case with its largest difference.
"""
import sys
import warnings

import foregrad
import numpy
import torch
from cases import AVERAGES, LBFGS, OPTIMIZERS, PLATEAUS, SCHEDULES
from steps import STEPS, Training, array, distance, plain, translated

TOLERANCE = {"float64": 1e-9, "float32": 1e-3}
# PyTorch computes with counts of steps in float32 there.
ROUNDED = 1e-4
# Products of bfloat16, which are rounded after sums in another order.
ROUGH = {"Muon": 0.2}


class Report:
    """The lines, and how many differ."""

    def __init__(self):
        self.count = self.wrong = 0

    def add(self, name, found, limit):
        self.count += 1
        bad = not found <= limit
        self.wrong += bad
        if bad:
            print(f"{name:90} {found:.1e} differs")


def both(kind, settings, dtype):
    matrices = kind == "Muon"
    return [Training(lib, kind, settings, dtype, matrices) for lib in (foregrad, torch)]


def compare_steps(report, kind, settings, dtype):
    name, limit = f"{kind} {settings} {dtype}", ROUGH.get(kind, TOLERANCE[dtype])
    ours, theirs = both(kind, settings, dtype)
    report.add(f"{name}: printed", 0 if repr(ours.optimizer) == repr(theirs.optimizer) else 1, 0)
    steps = 5 if kind in ROUGH else {"float64": STEPS, "float32": 10}[dtype]
    ours.steps(0, steps)
    theirs.steps(0, steps)
    report.add(f"{name}: parameters", distance(ours.values(), theirs.values()), limit)
    mine, its = (plain(one.optimizer.state_dict()) for one in (ours, theirs))
    report.add(f"{name}: state", distance(mine, its), limit)
    compiled = Training(foregrad, kind, settings, dtype, kind == "Muon")
    step = compiled.compiled(foregrad, kind, steps)
    report.add(f"{name}: compiled", distance(compiled.values(), ours.values()), 1e-12)
    report.add(f"{name}: compiled state", distance(
        plain(step.state_dict()["state"]), plain(ours.optimizer.state_dict()["state"])), 1e-12)


def compare_exchange(report, kind, settings):
    """States that go from one library to the other in the middle."""
    limit, half = ROUGH.get(kind, TOLERANCE["float64"]), 3 if kind in ROUGH else STEPS // 2
    for here, there in ((foregrad, torch), (torch, foregrad)):
        whole = Training(torch, kind, settings, "float64", kind == "Muon")
        whole.steps(0, 2 * half)
        first = Training(here, kind, settings, "float64", kind == "Muon")
        first.steps(0, half)
        second = Training(there, kind, settings, "float64", kind == "Muon")
        for name, p in second.p.items():
            p.data.copy_(second.tensor(array(first.p[name])))
        second.optimizer.load_state_dict(translated(first.optimizer.state_dict(), there))
        second.steps(half, 2 * half)
        report.add(f"{kind} {settings}: from {here.__name__} to {there.__name__}",
                   distance(second.values(), whole.values()), limit)


def differentiated(lib, kind, settings, count):
    """Gradients through steps with respect to the start, the data and the rate."""
    draw = numpy.random.default_rng(3)
    start, scale = (lib.tensor(draw.normal(size=4).tolist(), dtype=lib.float64, requires_grad=True)
                    for _ in range(2))
    rate = lib.tensor(0.1, dtype=lib.float64, requires_grad=settings.pop("rate", False))
    p = start.clone()
    optimizer = getattr(lib.optim, kind)([p], lr=rate if rate.requires_grad else 0.1,
                                         differentiable=True, **settings)
    for i in range(count):
        p.grad = (scale * (p if i else start)).sin()
        optimizer.step()
    wanted = [start, scale] + [rate] * rate.requires_grad
    return [array(p)] + [array(g) for g in lib.autograd.grad((p * p).sum(), wanted)]


def compare_differentiable(report):
    kinds = {kind: many for kind, many in OPTIMIZERS.items() if kind not in ("Muon", "Adafactor")}
    for kind, many in kinds.items():
        for settings in many:
            if "fused" in settings or "foreach" in settings or settings.get("momentum"):
                continue  # PyTorch's SGD cuts off its first buffer, its RMSprop writes over it
            settings = {k: v for k, v in settings.items() if k != "lr"}
            found = [differentiated(lib, kind, dict(settings), 1) for lib in (foregrad, torch)]
            report.add(f"{kind} {settings}: differentiable", distance(*found), ROUNDED)
    for kind in ("SGD", "Adam", "AdamW"):
        found = [differentiated(lib, kind, {"rate": True}, 1) for lib in (foregrad, torch)]
        report.add(f"{kind}: gradient of lr", distance(*found), ROUNDED)


def compare_lbfgs(report):
    for settings in LBFGS:
        for dtype in ("float64", "float32"):
            trained = []
            for lib in (foregrad, torch):
                draw = numpy.random.default_rng(7)
                start = lib.tensor(draw.normal(size=6).tolist(), dtype=getattr(lib, dtype))
                p = lib.nn.Parameter(start)
                optimizer, seen = lib.optim.LBFGS([p], **settings), []

                def closure():
                    optimizer.zero_grad()
                    loss = (100 * (p[1:] - p[:-1] ** 2) ** 2 + (1 - p[:-1]) ** 2).sum()
                    loss.backward()
                    seen.append(loss.item())
                    return loss

                for i in range(4):
                    optimizer.step(closure)
                    if i == 1:
                        saved = optimizer.state_dict()
                        optimizer = lib.optim.LBFGS([p], **settings)
                        optimizer.load_state_dict(saved)
                state = plain(optimizer.state_dict()["state"])[0]
                state.pop("al", None)
                trained.append([seen, array(p), state])
            found = distance(*trained) if dtype == "float64" else distance(
                trained[0][0][:4], trained[1][0][:4])
            report.add(f"LBFGS {settings} {dtype}: {len(trained[0][0])} evaluations", found,
                       {"float64": 1e-8, "float32": 1e-4}[dtype])


def scheduled(lib, text, tensor_rate, numbers, exchange=None, by_epoch=False):
    groups = [{"params": [lib.zeros(1, requires_grad=True)]},
              {"params": [lib.zeros(1, requires_grad=True)], "lr": 0.3}]
    rate = lib.tensor(0.1, dtype=lib.float64) if tensor_rate else 0.1
    optimizer = lib.optim.SGD(groups, lr=rate, momentum=0.9)
    names = {"s": lib.optim.lr_scheduler, "o": optimizer}
    module = lib.optim.swa_utils if text.startswith("SWALR") else lib.optim.lr_scheduler
    schedule = eval(f"module.{text}", {**names, "module": module})
    seen = []
    for i in range(60):
        optimizer.step()
        if by_epoch:
            schedule.step(i // 2)
        else:
            schedule.step(*numbers[i:i + 1])
        seen.append([[float(g["lr"]), g["momentum"]] for g in optimizer.param_groups])
        seen.append([float(lr) for lr in schedule.get_last_lr()])
        if i == 30 and exchange is not None:
            exchange.append(schedule.state_dict())
            if len(exchange) == 2:
                schedule.load_state_dict(exchange[0])
    return seen


def compare_schedules(report):
    warnings.simplefilter("ignore")
    numbers = numpy.random.default_rng(2).normal(size=60).cumsum().tolist()
    for text in [*SCHEDULES, *PLATEAUS, *AVERAGES]:
        given = numbers if "Plateau" in text else []
        for tensor_rate in (False, True):
            found = [scheduled(lib, text, tensor_rate, given) for lib in (foregrad, torch)]
            report.add(f"{text} {'tensor' * tensor_rate}", distance(*found), 1e-12)
        exchange = []
        found = [scheduled(lib, text, False, given, exchange) for lib in (torch, foregrad)]
        report.add(f"{text}: state of PyTorch", distance(*found), 1e-12)
        exchange = []
        found = [scheduled(lib, text, False, given, exchange) for lib in (foregrad, torch)]
        report.add(f"{text}: state for PyTorch", distance(*found), 1e-12)
        if not any(each in text for each in ("Sequential", "Chained", "Plateau", "Multiplicative")):
            found = [scheduled(lib, text, False, [], by_epoch=True) for lib in (foregrad, torch)]
            report.add(f"{text}: closed form", distance(*found), 1e-12)


def averaged(lib, make, use_buffers):
    lib.manual_seed(0)
    draw = numpy.random.default_rng(4)
    net = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.BatchNorm1d(4), lib.nn.Linear(4, 2))
    average = lib.optim.swa_utils.AveragedModel(net, **make(lib.optim.swa_utils),
                                                use_buffers=use_buffers)
    for _ in range(5):
        for p in net.parameters():
            p.data.copy_(lib.tensor(draw.normal(size=tuple(p.shape)).tolist()))
        net(lib.tensor(draw.normal(size=(6, 3)).tolist()))
        average.update_parameters(net)
    batches = [[lib.tensor(draw.normal(size=(6, 3)).tolist()), None] for _ in range(3)]
    before = plain(average.state_dict())
    lib.optim.swa_utils.update_bn(batches, average)
    return [before, plain(average.state_dict())]


def compare_averages(report):
    makers = {
        "mean": lambda u: {}, "ema": lambda u: {"multi_avg_fn": u.get_ema_multi_avg_fn(0.9)},
        "swa": lambda u: {"multi_avg_fn": u.get_swa_multi_avg_fn()},
        "ema one by one": lambda u: {"avg_fn": u.get_ema_avg_fn(0.8)},
        "swa one by one": lambda u: {"avg_fn": u.get_swa_avg_fn()}}
    for name, make in makers.items():
        for use_buffers in (False, True):
            if use_buffers and "one by one" not in name and name != "mean":
                continue  # PyTorch's own average of an integer buffer fails
            found = [averaged(lib, make, use_buffers) for lib in (foregrad, torch)]
            report.add(f"AveragedModel {name} {use_buffers}", distance(*found), 1e-5)


def main():
    report = Report()
    chosen = sys.argv[1:]
    for kind, many in OPTIMIZERS.items():
        if chosen and kind not in chosen:
            continue
        for settings in many:
            for dtype in ("float64", "float32"):
                compare_steps(report, kind, settings, dtype)
            compare_exchange(report, kind, settings)
    for each in () if chosen else (compare_differentiable, compare_lbfgs, compare_schedules,
                                   compare_averages):
        each(report)
    print(f"{report.count - report.wrong} of {report.count} agree")
    sys.exit(report.wrong > 0)


if __name__ == "__main__":
    main()

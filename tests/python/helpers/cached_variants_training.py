"""Variants as in cached_variants.py: random numbers, modules, training steps."""

import foregrad as fg
import foregrad.nn.functional as F
from cached_variants import gradients, some, variant
from foregrad import compiler, nn


@variant((0.5, True), (0.25, True), (0.5, False))
def dropout(compiled, case):
    fg.manual_seed(3)
    x = some(64).requires_grad_()
    return gradients(compiled(lambda x: F.dropout(x.sin(), *case))(x), x)


@variant("one", "two", "other order")
def drawn(compiled, how):
    def f(x):
        if how == "one":
            return x * fg.rand(8)
        a, b = fg.rand(8), fg.randn(8)
        return x * a + b if how == "two" else x * b + a

    fg.manual_seed(3)
    return [compiled(f)(some(8)), fg.rand(2)]


@variant(True, False)
def training(compiled, mode):
    fg.manual_seed(5)
    net = nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6) if hasattr(nn, "BatchNorm1d")
                        else nn.LayerNorm(6), nn.Dropout(0.5)).train(mode)
    x = some(4, 6).requires_grad_()
    fg.manual_seed(6)
    return gradients(compiled(net)(x), x, *net.parameters())


def optimizers():
    adamw, adam, sgd = compiler.AdamW, compiler.Adam, compiler.SGD
    return [sgd(0.1), sgd(0.2), sgd(0.1, momentum=0.9), sgd(0.1, momentum=0.9, nesterov=True),
            sgd(0.1, momentum=0.9, dampening=0.1), sgd(0.1, weight_decay=0.1),
            sgd(0.1, maximize=True), adam(0.1), adam(0.1, weight_decay=0.1),
            adam(0.1, betas=(0.8, 0.999)), adam(0.1, eps=1e-3), adam(0.1, amsgrad=True),
            adamw(0.1), adamw(0.1, weight_decay=0.1), adamw(0.1, maximize=True)]


@variant(*[(i, {}) for i in range(15)], (0, {"clip_norm": 0.5}), (0, {"clip_norm": 0.25}),
         (0, {"clip_value": 0.1}), (12, {"clip_norm": 0.5, "error_if_nonfinite": True}))
def step(compiled, case):
    which, options = case
    x, w, b = some(4, 4), some(4, 4).requires_grad_(), some(4).requires_grad_()
    eager = compiled(len) is len
    run = compiler.compile_step(lambda x: (x @ w + b).sin().sum(), [w, b], optimizers()[which],
                                disable=eager, **options)
    return [*[run(x) for _ in range(3)], w, b]


@variant("one group", "two groups", "frozen")
def step_groups(compiled, how):
    x, w = some(4, 4), some(4, 4).requires_grad_()
    b = some(4).requires_grad_(how != "frozen")
    groups = [w, b] if how != "two groups" else [{"params": [w]},
                                                 {"params": [b], "weight_decay": 0.5}]
    run = compiler.compile_step(lambda x: (x @ w + b).sin().sum(), groups, compiler.AdamW(0.1),
                                disable=compiled(len) is len)
    return [*[run(x) for _ in range(2)], w, b]

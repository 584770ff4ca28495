"""A training step of a model with AdamW, as one compiled function. Argument: model."""
import sys

import foregrad as fg
from models import start

LR, BETA1, BETA2, EPS, DECAY = 1e-3, 0.9, 0.999, 1e-8, 0.01


def as_tensor(array):
    """A copy, whose memory the library chose; bench/warm has tensors already."""
    return array if isinstance(array, fg.Tensor) else fg.tensor(array)


def make_step(name, compiled=True):
    model, parameters, data = start(name)
    p = {n: as_tensor(a).requires_grad_() for n, a in parameters.items()}
    m = {n: fg.zeros_like(t) for n, t in p.items()}
    v = {n: fg.zeros_like(t) for n, t in p.items()}
    data = [as_tensor(d) for d in data]

    def step(p, m, v, lr, scale1, scale2, *data):
        loss = model.loss(fg, fg.nn.functional, p, *data)
        grads = fg.autograd.grad(loss, list(p.values()))
        with fg.no_grad():
            for n, g in zip(p, grads):
                p[n].mul_(1 - LR * DECAY)
                m[n].lerp_(g, 1 - BETA1)
                v[n].mul_(BETA2).addcmul_(g, g, value=1 - BETA2)
                denominator = (v[n] * scale2).sqrt() + EPS
                p[n].sub_(m[n] / denominator * (lr * scale1))
        return loss.detach()

    run = fg.compile(step, fullgraph=True) if compiled else step
    count = 0

    def next_step():
        nonlocal count
        count += 1
        return run(p, m, v, LR, 1 / (1 - BETA1 ** count), 1 / (1 - BETA2 ** count), *data).item()

    return next_step


if __name__ == "__main__":
    import child
    fg.set_num_threads(2)
    child.serve(make_step, sys.argv[1])

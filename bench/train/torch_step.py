"""PyTorch: the same step eagerly, or with torch.compile. Arguments: model, eager or compile.

With torch.compile, the whole step is one graph where that pays. Otherwise the loss and its
derivative are compiled, and AdamW is the fused one: in one graph the recurrent network is not
compiled after 400 seconds, and the residual network takes four times as long to compile for the
same speed.
"""
import sys

import child
import torch
from models import start
from torch.nn import functional

WHOLE = ("mlp", "gpt", "pinn")
LR, BETA1, BETA2, EPS, DECAY = 1e-3, 0.9, 0.999, 1e-8, 0.01


def begin(name):
    torch.set_num_threads(2)
    model, parameters, data = start(name)
    p = {n: torch.as_tensor(a).requires_grad_() for n, a in parameters.items()}
    return model, p, [torch.as_tensor(d) for d in data]


def eager_step(name):
    model, p, data = begin(name)
    adamw = torch.optim.AdamW(p.values(), LR, (BETA1, BETA2), EPS, DECAY, fused=True)

    def step():
        loss = model.loss(torch, functional, p, *data)
        adamw.zero_grad()
        loss.backward()
        adamw.step()
        return loss.item()

    return step


def pinn_loss(p, x, t):
    """Derivatives by nested torch.func.grad: torch.compile does not take autograd.grad inside."""
    from models import Pinn

    def u_sum(x, t):
        u = Pinn.field(torch, functional, p, x, t)
        return u.sum(), u

    def u_x_sum(x, t):
        (u_x, u_t), u = torch.func.grad(u_sum, (0, 1), has_aux=True)(x, t)
        return u_x.sum(), (u, u_x, u_t)

    u_xx, (u, u_x, u_t) = torch.func.grad(u_x_sum, has_aux=True)(x, t)
    residual = u_t + u * u_x - 0.01 / torch.pi * u_xx
    return (residual * residual).mean()


def adamw_by_hand(p, m, v, grads, scale1, scale2):
    for n, g in grads.items():
        p[n].mul_(1 - LR * DECAY)
        m[n].lerp_(g, 1 - BETA1)
        v[n].mul_(BETA2).addcmul_(g, g, value=1 - BETA2)
        p[n].sub_(LR * scale1 * m[n] / ((v[n] * scale2).sqrt() + EPS))


def whole_step(name):
    """Loss, gradients and AdamW in one graph."""
    model, p, data = begin(name)
    p = {n: t.detach() for n, t in p.items()}
    m = {n: torch.zeros_like(t) for n, t in p.items()}
    v = {n: torch.zeros_like(t) for n, t in p.items()}

    def loss_of(p):
        if name == "pinn":
            return pinn_loss(p, *data)
        return model.loss(torch, functional, p, *data)

    @torch.compile(fullgraph=True)
    def run(p, m, v, scale1, scale2):
        grads, loss = torch.func.grad_and_value(loss_of)(p)
        adamw_by_hand(p, m, v, grads, scale1, scale2)
        return loss

    count = torch.zeros(())

    def step():
        count.add_(1)
        return run(p, m, v, 1 / (1 - BETA1 ** count), 1 / (1 - BETA2 ** count)).item()

    return step


def compiled_loss(name):
    """The loss and its derivative compiled, the optimizer as it is."""
    model, p, data = begin(name)
    adamw = torch.optim.AdamW(p.values(), LR, (BETA1, BETA2), EPS, DECAY, fused=True)
    loss_of = torch.compile(lambda p, *data: model.loss(torch, functional, p, *data),
                            fullgraph=True)

    def step():
        loss = loss_of(p, *data)
        adamw.zero_grad()
        loss.backward()
        adamw.step()
        return loss.item()

    return step


def compiled_step(name):
    return whole_step(name) if name in WHOLE else compiled_loss(name)


if __name__ == "__main__":
    child.serve({"eager": eager_step, "compile": compiled_step}[sys.argv[2]], sys.argv[1])

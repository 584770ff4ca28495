"""Solves a differential equation by training a network: Poisson's, on a square.

usage: pinn.py [steps]        (the same in C++: pinn.cpp)

    u_xx + u_yy = -2 pi^2 sin(pi x) sin(pi y)   inside,   u = 0 at the border

The network gets no values of u to learn from, only the equation: its loss is how far the network's
own second derivatives are from the right side. The training step differentiates that once more, by
the parameters; all three derivatives are in one compiled program.
"""
import math
import sys

import foregrad as fg
from foregrad import nn
from foregrad.compiler import AdamW, compile_step


class Field(nn.Module):
    """u(x, y): a network times something that is 0 at the border and 1 in the middle."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(),
                                 nn.Linear(32, 1))

    def forward(self, x, y):
        inside = 16 * x * (1 - x) * y * (1 - y)
        return inside * self.net(fg.stack([x, y], dim=1)).squeeze(1)


def second(u, x):
    """The second derivative of each u by its x: a gradient of a gradient."""
    first, = fg.autograd.grad(u.sum(), x, create_graph=True)
    return fg.autograd.grad(first.sum(), x, create_graph=True)[0]


def exact(x, y):
    return (math.pi * x).sin() * (math.pi * y).sin()


def main(steps):
    fg.manual_seed(0)
    field = Field()

    def loss_of(x, y):
        x, y = x.detach().requires_grad_(), y.detach().requires_grad_()
        u = field(x, y)
        u_xx, u_yy = second(u, x), second(u, y)
        residual = u_xx + u_yy + 2 * math.pi * math.pi * exact(x, y)
        return residual.square().mean()

    step = compile_step(loss_of, field, AdamW(lr=5e-3, weight_decay=0), fullgraph=True)
    for i in range(steps):
        step.lr = 5e-3 * 0.5 * (1 + math.cos(math.pi * i / steps))  # captures nothing anew
        loss = step(fg.rand(256), fg.rand(256))  # the equation at other points each time
        if (i + 1) % max(steps // 10, 1) == 0:
            print(f"step {i + 1:4}  loss {loss.item():.5f}")

    with fg.no_grad():
        x, y = fg.rand(1000), fg.rand(1000)
        print(f"error {(field(x, y) - exact(x, y)).abs().max().item():.4f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)

"""A function with a gradient of its own: Kepler's equation, solved and differentiated.

usage: custom_op.py [steps]        (the same in C++: custom_op.cpp)

The place of a planet on its orbit follows from the angle E with  E - e sin(E) = m,  where m grows
with time and e says how long the ellipse is. There is no formula for E: Newton's method finds it.
To differentiate that loop would be slow and pointless, since the equation itself says how E
changes:

    dE/dm = 1 / (1 - e cos E)        dE/de = sin E / (1 - e cos E)

So the loop becomes a function whose backward is these two lines. With it the shape of an orbit is
found from where a planet was seen.
"""
import math
import sys

import foregrad as fg
from foregrad.compiler import AdamW, compile_step


class Kepler(fg.autograd.Function):
    @staticmethod
    def forward(ctx, m, e):
        angle = m + e * m.sin()
        for _ in range(8):  # nothing in here is recorded
            angle = angle - (angle - e * angle.sin() - m) / (1 - e * angle.cos())
        ctx.save_for_backward(angle, e)
        return angle

    @staticmethod
    def backward(ctx, grad):
        angle, e = ctx.saved_tensors
        by_m = grad / (1 - e * angle.cos())
        return by_m, (by_m * angle.sin()).sum()  # one e for all m: gradients add up


def places(time, e, start):
    """x and y at some times of an orbit that takes one unit of time."""
    angle = Kepler.apply(2 * math.pi * time + start, e)
    return fg.stack([angle.cos() - e, (1 - e * e).sqrt() * angle.sin()])


def check():
    """Compares gradients and second ones with finite differences; a mismatch is an error."""
    m = fg.tensor([0.5, 2.0, 4.0], dtype=fg.float64, requires_grad=True)
    e = fg.tensor(0.6, dtype=fg.float64, requires_grad=True)
    fg.autograd.gradcheck(Kepler.apply, (m, e))
    fg.autograd.gradgradcheck(Kepler.apply, (m, e))
    print("gradients agree with finite differences")


def main(steps):
    check()
    fg.manual_seed(0)
    time = fg.rand(200)
    seen = places(time, fg.tensor(0.6), fg.tensor(0.3)) + 0.01 * fg.randn(2, 200)

    # The unknowns; e stays between 0 and 1 as a sigmoid.
    shape, start = fg.zeros((), requires_grad=True), fg.zeros((), requires_grad=True)

    def loss_of(time, seen):
        return (places(time, shape.sigmoid(), start) - seen).square().mean()

    step = compile_step(loss_of, [shape, start], AdamW(lr=0.05, weight_decay=0), fullgraph=True)
    for i in range(steps):
        loss = step(time, seen)
        if (i + 1) % max(steps // 10, 1) == 0:
            print(f"step {i + 1:4}  loss {loss.item():.6f}  e {shape.sigmoid().item():.4f}")
    print(f"error {abs(shape.sigmoid().item() - 0.6):.4f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)

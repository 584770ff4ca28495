"""Trains a small network that tells two spirals apart.

usage: mlp.py [steps]        (the same in C++: mlp.cpp)
"""
import math
import sys

import foregrad as fg
from foregrad import nn
from foregrad.compiler import AdamW, compile_step


def spirals(count):
    """Points on two arms that wind around each other, with noise, and the arm of each."""
    arm = fg.randint(0, 2, (count,))
    turn = fg.rand(count).sqrt() * 3 * math.pi  # the root: as many points outside as inside
    angle = turn + arm * math.pi                # the second arm begins half a turn later
    points = fg.stack([turn * angle.cos(), turn * angle.sin()], dim=1) / 5
    return points + 0.02 * fg.randn(count, 2), arm


def accuracy(net, points, arm):
    with fg.no_grad():  # nothing is to be differentiated
        return (net(points).argmax(1) == arm).float().mean().item()


def main(steps):
    fg.manual_seed(0)
    points, arm = spirals(2000)
    net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))

    def loss_of(points, arm):
        return nn.functional.cross_entropy(net(points), arm)

    # Forward, backward and the update of all parameters become one compiled program.
    step = compile_step(loss_of, net, AdamW(lr=1e-2))
    for i in range(steps):
        loss = step(points, arm)
        if (i + 1) % max(steps // 10, 1) == 0:
            print(f"step {i + 1:4}  loss {loss.item():.4f}")

    new_points, new_arm = spirals(1000)  # new to the network
    print(f"accuracy {accuracy(net, new_points, new_arm):.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)

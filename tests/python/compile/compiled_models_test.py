"""Whole public models: captured in one piece, soon, with the gradients of eager code."""

import foregrad as fg
import foregrad.nn.functional as F
from foregrad import nn


class Inverted(nn.Module):
    """The block of MobileNetV2: wider, one filter per channel, narrower."""

    def __init__(self, inner, outer, stride, wider):
        super().__init__()
        hidden = inner * wider
        self.adds = stride == 1 and inner == outer
        layers = [nn.Conv2d(inner, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6()]
        self.layers = nn.Sequential(
            *(layers if wider > 1 else []),
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden), nn.ReLU6(),
            nn.Conv2d(hidden, outer, 1, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


def mobile_net():
    layers, inner = [nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU6()], 8
    for wider, outer, count, stride in ((1, 4, 1, 1), (6, 6, 2, 1), (6, 8, 3, 2), (6, 16, 4, 2),
                                        (6, 24, 3, 1), (6, 40, 3, 2), (6, 80, 1, 1)):
        for i in range(count):
            layers.append(Inverted(inner, outer, stride if i == 0 else 1, wider))
            inner = outer
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inner, 10))


def gradients(net, call, x, kind):
    net.zero_grad()
    F.cross_entropy(call(x), kind).backward()
    return [parameter.grad.clone() for parameter in net.parameters()]


def test_a_mobile_net():
    fg.manual_seed(0)
    net = mobile_net().to(fg.float64)
    x, kind = fg.randn(4, 3, 16, 16, dtype=fg.float64), fg.randint(0, 10, (4,))
    expected = gradients(net, net, x, kind)
    compiled = fg.compile(net, fullgraph=True)
    for _ in range(2):
        for found, wanted in zip(gradients(net, compiled, x, kind), expected):
            assert fg.allclose(found, wanted, rtol=1e-9, atol=1e-12)

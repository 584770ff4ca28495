"""Trains a convolutional network that says which shape an image shows.

usage: cnn.py [steps]        (the same in C++: cnn.cpp)
"""
import sys

import foregrad as fg
from foregrad import nn
from foregrad.compiler import AdamW, compile_step

SIZE, SHAPES = 16, ["circle", "square", "diamond"]


def images(count):
    """Outlines of shapes somewhere in noisy images, and the number of each shape."""
    shape = fg.randint(0, len(SHAPES), (count,))
    place = fg.arange(SIZE, dtype=fg.float32)
    middle = 6 + 4 * fg.rand(2, count, 1, 1)
    dx = (place.view(1, 1, SIZE) - middle[0]).abs().expand(count, SIZE, SIZE)
    dy = (place.view(1, SIZE, 1) - middle[1]).abs().expand(count, SIZE, SIZE)
    # How far a pixel is from the middle, as each shape counts it: a shape is a circle to itself.
    far = fg.stack([(dx * dx + dy * dy).sqrt(), fg.maximum(dx, dy), dx + dy], dim=1)
    far = far[fg.arange(count), shape]
    radius = 3 + 3 * fg.rand(count, 1, 1)
    outline = ((far - radius).abs() < 0.8).float()
    return (outline + 0.3 * fg.randn(count, SIZE, SIZE)).unsqueeze(1), shape


def block(inputs, outputs):
    """Half the width and height, more channels."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs),
                         nn.ReLU(), nn.MaxPool2d(2))


def main(steps):
    fg.manual_seed(0)
    net = nn.Sequential(block(1, 8), block(8, 16), nn.Flatten(),
                        nn.Linear(16 * SIZE * SIZE // 16, len(SHAPES)))
    step = compile_step(lambda x, shape: nn.functional.cross_entropy(net(x), shape), net,
                        AdamW(lr=3e-3))
    for i in range(steps):
        loss = step(*images(64))  # new images at every step
        if (i + 1) % max(steps // 10, 1) == 0:
            print(f"step {i + 1:4}  loss {loss.item():.4f}")

    # In evaluation BatchNorm uses what it has seen in training, not what is in this batch.
    net.eval()
    predict = fg.compile(net)
    x, shape = images(512)
    with fg.no_grad():
        right = predict(x).argmax(1) == shape
    for number, name in enumerate(SHAPES):
        print(f"{name:8} {right[shape == number].float().mean().item():.3f}")
    print(f"accuracy {right.float().mean().item():.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)

"""Custom functions and hooks that random programs use."""

import foregrad as fg
from foregrad.autograd import Function
from foregrad.autograd.function import once_differentiable


class Cube(Function):
    """Saves its input and an output."""

    @staticmethod
    def forward(ctx, x):
        y = x * x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, _ = ctx.saved_tensors
        return grad * 3 * x * x


class Scale(Function):
    """An argument that is no tensor; a gradient that is not that of the function."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * (ctx.factor + 1), None


class Dirty(Function):
    """Writes to its input."""

    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Pair(Function):
    """Two outputs, of which the second has no gradient."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        other = x > y
        ctx.mark_non_differentiable(other)
        return x * y, other

    @staticmethod
    def backward(ctx, grad, _):
        x, y = ctx.saved_tensors
        return (grad * y if ctx.needs_input_grad[0] else None,
                grad * x if ctx.needs_input_grad[1] else None)


class Both(Function):
    """Two outputs, gradients that may be missing."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x.sin(), x * 2

    @staticmethod
    def backward(ctx, one, two):
        if one is None:
            return two if two is None else two * 7
        return one if two is None else one + two


class Once(Function):
    """Cannot be differentiated twice."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x.exp()


class Same(Function):
    """Returns its input as it is."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 5


class Turn(Function):
    """Returns a view of its input."""

    @staticmethod
    def forward(ctx, x):
        return x.transpose(0, -1)

    @staticmethod
    def backward(ctx, grad):
        return grad.transpose(0, -1) * 3


def double(grad):
    return None if grad is None else grad * 2


def look(grad):
    assert grad is None or isinstance(grad, fg.Tensor)


NAMES = {f.__name__: f for f in (Cube, Scale, Dirty, Pair, Both, Once, Same, Turn, double, look)}

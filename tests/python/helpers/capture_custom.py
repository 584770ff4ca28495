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


class Counts(Function):
    """Writes in its backward to a tensor that it keeps on the context."""

    @staticmethod
    def forward(ctx, x, b):
        ctx.b = b
        return x * 1.5

    @staticmethod
    def backward(ctx, grad):
        with fg.no_grad():
            ctx.b.add_(1)
        return grad * ctx.b.sum().to(grad.dtype), None


class Reads(Function):
    """Reads in its backward what it keeps on the context, as it is then."""

    @staticmethod
    def forward(ctx, x, b):
        ctx.b = b
        return x * b.sum().to(x.dtype)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.b.mean().to(grad.dtype), None


class WritesSaved(Function):
    """Writes in its backward to what it saved."""

    @staticmethod
    def forward(ctx, x, b):
        ctx.save_for_backward(b)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (b,) = ctx.saved_tensors
        with fg.no_grad():
            b.mul_(2)
        return grad * b.sum().to(grad.dtype), None


class WritesBoth(Function):
    """Writes in its forward, and in its backward again."""

    @staticmethod
    def forward(ctx, x, b):
        b.detach().add_(2)
        ctx.b = b
        return x * b.sum().to(x.dtype)

    @staticmethod
    def backward(ctx, grad):
        ctx.b.detach().mul_(0.5)
        return grad * ctx.b.sum().to(grad.dtype), None


class Given(Function):
    """Writes to the gradient that it is given."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad.detach().mul_(2) + 1


class Sums(Function):
    """Keeps a state of its own: a tensor."""

    @staticmethod
    def forward(ctx, x):
        ctx.sum = fg.zeros_like(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        ctx.sum.add_(grad.detach())
        return ctx.sum * 2


class Tallies(Function):
    """Keeps a state of its own: a number."""

    @staticmethod
    def forward(ctx, x):
        ctx.count = 0
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        ctx.count += 1
        return grad * ctx.count


class Bends(Function):
    """Changes a shape in its backward."""

    @staticmethod
    def forward(ctx, x, b):
        ctx.b = b
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        ctx.b.detach().unsqueeze_(0)
        if not ctx.b.requires_grad:
            ctx.b.transpose_(0, -1)
        return grad * 2, None


def writes(grad, tensor):
    """A hook that writes to a tensor."""
    tensor.detach().add_(0.5)
    return grad * tensor.sum().to(grad.dtype)


def reads(grad, tensor):
    """A hook that reads a tensor as it is then."""
    return grad * tensor.sum().to(grad.dtype)


def copies(grad, tensor):
    """A hook that keeps something of the gradient."""
    tensor.detach().copy_(grad.detach().sum().to(tensor.dtype))


def double(grad):
    return None if grad is None else grad * 2


def look(grad):
    assert grad is None or isinstance(grad, fg.Tensor)


WRITERS = (Counts, Reads, WritesSaved, WritesBoth, Given, Sums, Tallies, Bends, writes, reads,
           copies)
NAMES = {f.__name__: f for f in (Cube, Scale, Dirty, Pair, Both, Once, Same, Turn, double, look,
                                 *WRITERS)}

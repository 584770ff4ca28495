"""torch.nn.init: ways to fill parameters. Values come from our own random numbers."""

from __future__ import annotations

import functools
import math
import warnings
from contextlib import contextmanager
from contextvars import ContextVar

from foregrad import _C
from foregrad.autograd._modes import no_grad

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Generator, Tensor
    from typing import Any

__all__ = ["calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_",
           "kaiming_normal", "kaiming_normal_", "kaiming_uniform", "kaiming_uniform_", "normal",
           "normal_", "ones_", "orthogonal", "orthogonal_", "sparse", "sparse_", "trunc_normal_",
           "uniform", "uniform_", "xavier_normal", "xavier_normal_", "xavier_uniform",
           "xavier_uniform_", "zeros_"]

_GAINS = {"linear": 1, "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4,
          **{f"conv{kind}{n}d": 1 for kind in ("", "_transpose") for n in (1, 2, 3)}}


_skipping = ContextVar("skipping", default=False)


@contextmanager
def _skipped():
    """Functions of this module leave tensors as they are, as long as the `with` lasts."""
    token = _skipping.set(True)
    try:
        yield
    finally:
        _skipping.reset(token)


def _fills(function):
    """A function that fills its first argument, outside of the graph."""
    filling = no_grad()(function)

    @functools.wraps(function)
    def fill(tensor, *args, **kwargs):
        return tensor if _skipping.get() else filling(tensor, *args, **kwargs)

    return fill


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The scale that keeps the variance through a function."""
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    if param is None:
        param = 0.01
    elif isinstance(param, bool) or not isinstance(param, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + param ** 2))


@_fills
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0,
             generator: Generator | None = None) -> Tensor:
    """Values between a and b."""
    return tensor.uniform_(a, b, generator=generator)


@_fills
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0,
            generator: Generator | None = None) -> Tensor:
    """Values of a normal distribution."""
    return tensor.normal_(mean, std, generator=generator)


def _below(x):
    """The part of a normal distribution that is below x."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


@_fills
def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0,
                  b: float = 2.0, generator: Generator | None = None) -> Tensor:
    """Values of a normal distribution that are between a and b."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The "
                      "distribution of values may be incorrect.", stacklevel=2)
    low, high = _below((a - mean) / std), _below((b - mean) / std)
    tensor.uniform_(2 * low - 1, 2 * high - 1, generator=generator)
    tensor.copy_(_erfinv(tensor))
    return tensor.mul_(std * math.sqrt(2.0)).add_(mean).clamp_(min=a, max=b)


def _erfinv(x):
    """The inverse of erf: a first guess, then Newton's method on erf, in double."""
    y = x.double().clamp(-1 + 1e-15, 1 - 1e-15)
    log = (1 - y * y).log()
    part = 2 / (math.pi * 0.147) + log / 2
    guess = y.sign() * ((part * part - log / 0.147).sqrt() - part).sqrt()
    for _ in range(3):
        guess = guess - (guess.erf() - y) / (2 / math.sqrt(math.pi) * (-guess * guess).exp())
    return guess


@_fills
def constant_(tensor: Tensor, val: float) -> Tensor:
    """One value everywhere."""
    return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0.0)


@_fills
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """A matrix with orthonormal rows, or columns where there are fewer, times gain."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    from foregrad.nn._reflections import orthogonalized
    rows = tensor.shape[0]
    drawn = tensor.new_empty((rows, tensor.numel() // rows)).normal_(0, 1, generator=generator)
    wide = drawn.shape[0] < drawn.shape[1]
    made = orthogonalized(drawn.t() if wide else drawn)
    return tensor.copy_((made.t() if wide else made).reshape(tensor.shape)).mul_(gain)


@_fills
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01,
            generator: Generator | None = None) -> Tensor:
    """Normal values; a part of every column, at random places, is zero."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        places = _C._functions.randperm(rows, generator=generator)[:zeros]
        tensor[:, column].index_fill_(0, places, 0)
    return tensor


@_fills
def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(_C._functions.eye(*tensor.shape, dtype=tensor.dtype))


@_fills
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution that passes its input through."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    each = tensor.shape[0] // groups
    centre = tuple(size // 2 for size in tensor.shape[2:])
    tensor.zero_()
    for group in range(groups):
        for i in range(min(each, tensor.shape[1])):
            tensor[(group * each + i, i, *centre)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    """The number of inputs of an output, and of outputs of an input."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 "
                         "dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0,
                    generator: Generator | None = None) -> Tensor:
    """Uniform values by Glorot."""
    bound = gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal values by Glorot."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


def _kaiming(tensor, a, mode, nonlinearity):
    """The standard deviation by He; None where there is nothing to fill."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in",
                     nonlinearity: str = "leaky_relu",
                     generator: Generator | None = None) -> Tensor:
    """Uniform values by He."""
    std = _kaiming(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in",
                    nonlinearity: str = "leaky_relu", generator: Generator | None = None) -> Tensor:
    """Normal values by He."""
    std = _kaiming(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


def _old(function, args, kwargs):
    """Calls a function by its name of old programs, without the underscore at the end."""
    name = function.__name__
    warnings.warn(f"`nn.init.{name[:-1]}` is now deprecated in favor of `nn.init.{name}`.",
                  FutureWarning, stacklevel=3)
    return function(*args, **kwargs)


def constant(*args: Any, **kwargs: Any) -> Tensor:
    """The name of old programs for constant_."""
    return _old(constant_, args, kwargs)


def dirac(*args: Any, **kwargs: Any) -> Tensor:
    """The name of old programs for dirac_."""
    return _old(dirac_, args, kwargs)


def eye(*args: Any, **kwargs: Any) -> Tensor:
    """The name of old programs for eye_."""
    return _old(eye_, args, kwargs)


def kaiming_normal(*args: Any, **kwargs: Any) -> Tensor:
    """The name of old programs for kaiming_normal_."""
    return _old(kaiming_normal_, args, kwargs)


def kaiming_uniform(*args: Any, **kwargs: Any) -> Tensor:
    """The name of old programs for kaiming_uniform_."""
    return _old(kaiming_uniform_, args, kwargs)


def normal(*args: Any, **kwargs: Any) -> Tensor:
    """The name of old programs for normal_."""
    return _old(normal_, args, kwargs)


def orthogonal(*args: Any, **kwargs: Any) -> Tensor:
    """The name of old programs for orthogonal_."""
    return _old(orthogonal_, args, kwargs)


def sparse(*args: Any, **kwargs: Any) -> Tensor:
    """The name of old programs for sparse_."""
    return _old(sparse_, args, kwargs)


def uniform(*args: Any, **kwargs: Any) -> Tensor:
    """The name of old programs for uniform_."""
    return _old(uniform_, args, kwargs)


def xavier_normal(*args: Any, **kwargs: Any) -> Tensor:
    """The name of old programs for xavier_normal_."""
    return _old(xavier_normal_, args, kwargs)


def xavier_uniform(*args: Any, **kwargs: Any) -> Tensor:
    """The name of old programs for xavier_uniform_."""
    return _old(xavier_uniform_, args, kwargs)

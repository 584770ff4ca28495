"""Parameters of distributions: broadcasting, probabilities and logits, values made on demand."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import update_wrapper
from numbers import Number
from typing import Any

import foregrad as fg
from foregrad import _C

__all__ = ["broadcast_all", "logits_to_probs", "clamp_probs", "probs_to_logits", "lazy_property",
           "tril_matrix_to_vec", "vec_to_tril_matrix"]

euler_constant = 0.57721566490153286060  # Euler Mascheroni Constant


def broadcast_all(*values: Any) -> tuple[fg.Tensor, ...]:
    """The values as tensors of one shape; numbers get the dtype of the first tensor."""
    for value in values:
        if not isinstance(value, (fg.Tensor, Number)):
            raise ValueError("Input arguments must all be instances of Number, Tensor or objects "
                             f"that can be used as a tensor; got a {type(value).__name__}")
    tensors = [value for value in values if isinstance(value, fg.Tensor)]
    dtype = tensors[0].dtype if tensors else fg.get_default_dtype()
    made = (value if isinstance(value, fg.Tensor) else fg.tensor(value, dtype=dtype)
            for value in values)
    return fg.broadcast_tensors(*made)


def _standard_normal(shape: Any, dtype: fg.dtype, device: Any = None) -> fg.Tensor:
    return fg.randn(tuple(shape), dtype=dtype)


def _sum_rightmost(value: fg.Tensor, dim: int) -> fg.Tensor:
    """The sum over the last `dim` dimensions."""
    return value if dim == 0 else value.sum(tuple(range(-dim, 0)))


def _float_dtype(tensor: fg.Tensor) -> fg.dtype:
    return tensor.dtype if tensor.dtype.is_floating_point else fg.get_default_dtype()


def logits_to_probs(logits: fg.Tensor, is_binary: bool = False) -> fg.Tensor:
    """Probabilities: the sigmoid of log odds, or the softmax of logarithms."""
    return fg.sigmoid(logits) if is_binary else fg.softmax(logits, -1)


def clamp_probs(probs: fg.Tensor) -> fg.Tensor:
    """Probabilities kept away from 0 and 1 by the epsilon of their dtype."""
    eps = fg.finfo(probs.dtype).eps
    return fg.clamp(probs, eps, 1 - eps)


def probs_to_logits(probs: fg.Tensor, is_binary: bool = False) -> fg.Tensor:
    """Log odds, or logarithms, of probabilities that are kept away from 0 and 1."""
    inside = clamp_probs(probs)
    return fg.log(inside) - fg.log1p(-inside) if is_binary else fg.log(inside)


class lazy_property:
    """A value that is computed when it is first asked for, and kept from then on."""

    def __init__(self, wrapped: Callable[..., Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return _LazyOfClass(self.wrapped)
        with fg.enable_grad():
            value = self.wrapped(instance)
        # A value of a graph must not outlive its capture on an object that does.
        if not _C.is_capturing() or instance.__dict__.get("_is_captured", False):
            setattr(instance, self.wrapped.__name__, value)
        return value


class _LazyOfClass(lazy_property, property):
    """A lazy property as its class shows it: documented like a property."""

    def __init__(self, wrapped: Callable[..., Any]) -> None:
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat: fg.Tensor, diag: int = 0) -> fg.Tensor:
    """The elements of the lower triangle up to a diagonal, row by row."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = _tril_places(n, diag)
    return mat[..., fg.tensor(rows, dtype=fg.int64), fg.tensor(columns, dtype=fg.int64)]


def vec_to_tril_matrix(vec: fg.Tensor, diag: int = 0) -> fg.Tensor:
    """The matrix with these elements in its lower triangle up to a diagonal, row by row."""
    count = vec.shape[-1]
    b = 1 + 2 * diag
    n = (-b + (b ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(n) - n > fg.finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {count} which cannot be expressed as the "
                         "lower triangular part of a square D x D matrix.")
    n = round(n)
    rows, columns = _tril_places(n, diag)
    # A gather and a mask, so that gradients and captures need no write.
    place = [[0] * n for _ in range(n)]
    for k, (i, j) in enumerate(zip(rows, columns)):
        place[i][j] = k
    inside = [[j <= i + diag for j in range(n)] for i in range(n)]
    picked = vec[..., fg.tensor(place)]
    return fg.where(fg.tensor(inside), picked, fg.zeros((), dtype=vec.dtype))


def _tril_places(n: int, diag: int) -> tuple[list[int], list[int]]:
    pairs = [(i, j) for i in range(n) for j in range(n) if j <= i + diag]
    return [i for i, _ in pairs], [j for _, j in pairs]


def _broadcast_shapes(*shapes: Any) -> fg.Size:
    """The shape to which these broadcast."""
    return fg.broadcast_tensors(*(fg.empty(()).expand(tuple(one)) for one in shapes))[0].shape


def _refuse(valid: fg.Tensor, message: Callable[[], str], short: str) -> None:
    """Raises a ValueError unless all is valid; captured code checks when it runs."""
    if _C.is_capturing():
        _C._functions._require_true(valid, short)
    elif not valid.all():
        raise ValueError(message())


_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)

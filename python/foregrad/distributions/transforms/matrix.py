"""Transforms of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad.distributions import constraints
from foregrad.distributions.transforms.base import Transform
from foregrad.distributions.transforms.elementwise import _clipped_sigmoid
from foregrad.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix
from foregrad.nn.functional import logsigmoid, pad, softplus


def _require_dims(shape: Any, dims: int) -> None:
    if len(shape) < dims:
        raise ValueError("Too few dimensions on input")


class ReshapeTransform(Transform):
    """Another shape of the same elements."""

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape = fg.Size(in_shape)
        self.out_shape = fg.Size(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> constraints.Constraint:
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> constraints.Constraint:
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        batch = tuple(x.shape[:x.dim() - len(self.in_shape)])
        return x.reshape(batch + tuple(self.out_shape))

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        batch = tuple(y.shape[:y.dim() - len(self.out_shape)])
        return y.reshape(batch + tuple(self.in_shape))

    def log_abs_det_jacobian(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        return fg.zeros(tuple(x.shape[:x.dim() - len(self.in_shape)]), dtype=x.dtype)

    @staticmethod
    def _moved(shape: Any, before: Any, after: Any) -> Any:
        _require_dims(shape, len(before))
        cut = len(shape) - len(before)
        if tuple(shape[cut:]) != tuple(before):
            raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {before}")
        return fg.Size(tuple(shape[:cut]) + tuple(after))

    def forward_shape(self, shape: Any) -> Any:
        return self._moved(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._moved(shape, self.out_shape, self.in_shape)


class SoftmaxTransform(Transform):
    """y = exp(x) over its sum along the last dimension; the inverse is one of many."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        return fg.softmax(x, -1)

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        _require_dims(shape, 1)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        _require_dims(shape, 1)
        return shape


def _breaks(count: int, like: fg.Tensor) -> fg.Tensor:
    """The logarithms of count, count - 1, ..., 1: with them zeros give equal parts."""
    return fg.arange(count, 0, -1, dtype=like.dtype).log()


class StickBreakingTransform(Transform):
    """A simplex of n parts from n - 1 numbers: each says which share of the rest breaks off."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        z = _clipped_sigmoid(x - _breaks(x.shape[-1], x))
        rest = (1 - z).cumprod(-1)
        return pad(z, [0, 1], value=1) * pad(rest, [1, 0], value=1)

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        parts = y[..., :-1]
        rest = fg.clamp(1 - parts.cumsum(-1), min=fg.finfo(y.dtype).tiny)
        return parts.log() - rest.log() + _breaks(parts.shape[-1], y)

    def log_abs_det_jacobian(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        x = x - _breaks(x.shape[-1], x)
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        _require_dims(shape, 1)
        return fg.Size(tuple(shape[:-1]) + (shape[-1] + 1,))

    def inverse_shape(self, shape: Any) -> Any:
        _require_dims(shape, 1)
        return fg.Size(tuple(shape[:-1]) + (shape[-1] - 1,))


class LowerCholeskyTransform(Transform):
    """Lower triangular matrices with a positive diagonal: exp of the diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Symmetric positive-definite matrices from their Cholesky factors."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        return LowerCholeskyTransform().inv(fg.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """Cholesky factors of correlation matrices of size n from n (n - 1) / 2 numbers.

    tanh of the numbers are partial correlations; each row takes from its unit length the shares
    that they say.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        eps = fg.finfo(x.dtype).eps
        partial = vec_to_tril_matrix(fg.tanh(x).clamp(-1 + eps, 1 - eps), diag=-1)
        left = (1 - partial * partial).sqrt().cumprod(-1)
        unit = partial + fg.eye(partial.shape[-1], dtype=x.dtype)
        return unit * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        left = pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        partial = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (partial.log1p() - (-partial).log1p()) / 2

    def log_abs_det_jacobian(self, x: fg.Tensor, y: fg.Tensor,
                             intermediates: Any = None) -> fg.Tensor:
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        of_lengths = 0.5 * left.log().sum(-1)
        of_tanh = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return of_lengths + of_tanh

    def forward_shape(self, shape: Any) -> Any:
        _require_dims(shape, 1)
        count = shape[-1]
        n = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != count:
            raise ValueError("Input is not a flattend lower-diagonal number")
        return fg.Size(tuple(shape[:-1]) + (n, n))

    def inverse_shape(self, shape: Any) -> Any:
        _require_dims(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        n = shape[-1]
        return fg.Size(tuple(shape[:-2]) + (n * (n - 1) // 2,))

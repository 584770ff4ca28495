"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.utils import _broadcast_shapes, _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


def _batch_mv(matrices: fg.Tensor, vectors: fg.Tensor) -> fg.Tensor:
    """Products of matrices and vectors, over a batch that broadcasts."""
    return fg.matmul(matrices, vectors.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(lower: fg.Tensor, far: fg.Tensor) -> fg.Tensor:
    """far^T M^-1 far for M = lower lower^T."""
    if lower.dim() == 2:  # one system with many right sides
        columns = far.reshape(-1, far.shape[-1]).mT
        solved = fg.linalg.solve_triangular(lower, columns, upper=False)
        return solved.pow(2).sum(0).reshape(far.shape[:-1])
    solved = fg.linalg.solve_triangular(lower, far.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).pow(2).sum(-1)


def _half_log_det(lower: fg.Tensor) -> fg.Tensor:
    return lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _precision_to_scale_tril(precision: fg.Tensor) -> fg.Tensor:
    """The Cholesky factor of the inverse: a factor from the other end, inverted."""
    turned = fg.linalg.cholesky(fg.flip(precision, (-2, -1)))
    inverse = fg.flip(turned, (-2, -1)).mT
    identity = fg.eye(precision.shape[-1], dtype=precision.dtype)
    return fg.linalg.solve_triangular(inverse, identity, upper=False)


def _require_matrix(name: str, matrix: fg.Tensor) -> fg.Tensor:
    if matrix.dim() < 2:
        raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch "
                         "dimensions")
    return matrix


class MultivariateNormal(Distribution):
    """Normal vectors with mean `loc` and a covariance, its inverse, or its Cholesky factor."""

    arg_constraints = {"loc": constraints.real_vector,
                       "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite,
                       "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: fg.Tensor, covariance_matrix: fg.Tensor | None = None,
                 precision_matrix: fg.Tensor | None = None, scale_tril: fg.Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"scale_tril": scale_tril, "covariance_matrix": covariance_matrix,
                 "precision_matrix": precision_matrix}
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril "
                             "may be specified.")
        ((name, matrix),) = given.items()
        _require_matrix("scale_tril matrix" if name == "scale_tril" else name, matrix)
        batch = tuple(_broadcast_shapes(matrix.shape[:-2], loc.shape[:-1]))
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        self.loc = loc.expand(batch + (-1,))
        super().__init__(Size(batch), self.loc.shape[-1:], validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = fg.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)

    def expand(self, batch_shape: Any, _instance: Any = None) -> MultivariateNormal:
        new = self._expanded(MultivariateNormal, batch_shape, _instance,
                             {"loc": 1, "covariance_matrix": 2, "scale_tril": 2,
                              "precision_matrix": 2})
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return new

    def _wide(self, matrix: fg.Tensor) -> fg.Tensor:
        events = tuple(self._event_shape)
        return matrix.expand(tuple(self._batch_shape) + events + events)

    @lazy_property
    def scale_tril(self) -> fg.Tensor:
        """The lower Cholesky factor of the covariance."""
        return self._wide(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> fg.Tensor:
        """The covariance."""
        lower = self._unbroadcasted_scale_tril
        return self._wide(lower @ lower.mT)

    @lazy_property
    def precision_matrix(self) -> fg.Tensor:
        """The inverse of the covariance."""
        return self._wide(fg.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> fg.Tensor:
        return self.loc

    @property
    def mode(self) -> fg.Tensor:
        return self.loc

    @property
    def variance(self) -> fg.Tensor:
        variance = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return variance.expand(tuple(self._batch_shape) + tuple(self._event_shape))

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        eps = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        lower = self._unbroadcasted_scale_tril
        distance = _batch_mahalanobis(lower, value - self.loc)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + distance) - _half_log_det(lower)

    def entropy(self) -> fg.Tensor:
        constant = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (constant + _half_log_det(self._unbroadcasted_scale_tril)).expand(
            self._batch_shape)

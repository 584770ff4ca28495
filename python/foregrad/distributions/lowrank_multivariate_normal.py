"""The multivariate normal distribution with a covariance of low rank and a diagonal."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.multivariate_normal import _batch_mahalanobis, _batch_mv, _half_log_det
from foregrad.distributions.utils import _broadcast_shapes, _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def _capacitance_tril(factor: fg.Tensor, diag: fg.Tensor) -> fg.Tensor:
    """The Cholesky factor of I + W^T D^-1 W."""
    rank = factor.shape[-1]
    inside = (factor / diag.unsqueeze(-1)).mT @ factor
    return fg.linalg.cholesky(inside + fg.eye(rank, dtype=factor.dtype))


def _log_det(diag: fg.Tensor, capacitance: fg.Tensor) -> fg.Tensor:
    """log |W W^T + D| = log |capacitance| + log |D|."""
    return 2 * _half_log_det(capacitance) + diag.log().sum(-1)


def _mahalanobis(factor: fg.Tensor, diag: fg.Tensor, far: fg.Tensor,
                 capacitance: fg.Tensor) -> fg.Tensor:
    """far^T (W W^T + D)^-1 far, by Woodbury's identity."""
    scaled = (factor / diag.unsqueeze(-1)).mT
    inside = _batch_mv(scaled, far)
    return (far.pow(2) / diag).sum(-1) - _batch_mahalanobis(capacitance, inside)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with mean `loc` and covariance cov_factor cov_factor^T + diag(cov_diag)."""

    arg_constraints = {"loc": constraints.real_vector,
                       "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: fg.Tensor, cov_factor: fg.Tensor, cov_diag: fg.Tensor,
                 validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = tuple(loc.shape[-1:])
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading "
                             "batch dimensions")
        if tuple(cov_factor.shape[-2:-1]) != event:
            raise ValueError("cov_factor must be a batch of matrices with shape "
                             f"{event[0]} x m")
        if tuple(cov_diag.shape[-1:]) != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape "
                             f"{loc.shape[-1:]}")
        try:
            batch = tuple(_broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2],
                                            cov_diag.shape[:-1]))
        except RuntimeError as error:
            raise ValueError(f"Incompatible batch shapes: loc {loc.shape}, cov_factor "
                             f"{cov_factor.shape}, cov_diag {cov_diag.shape}") from error
        self.loc = loc.expand(batch + event)
        self.cov_diag = cov_diag.expand(batch + event)
        self.cov_factor = cov_factor.expand(batch + tuple(cov_factor.shape[-2:]))
        super().__init__(Size(batch), Size(event), validate_args=validate_args)
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = _capacitance_tril(cov_factor, cov_diag)

    def expand(self, batch_shape: Any, _instance: Any = None) -> LowRankMultivariateNormal:
        new = self._expanded(LowRankMultivariateNormal, batch_shape, _instance,
                             {"loc": 1, "cov_diag": 1, "cov_factor": 2})
        new._unbroadcasted_cov_factor = self._unbroadcasted_cov_factor
        new._unbroadcasted_cov_diag = self._unbroadcasted_cov_diag
        new._capacitance_tril = self._capacitance_tril
        return new

    @property
    def mean(self) -> fg.Tensor:
        return self.loc

    @property
    def mode(self) -> fg.Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> fg.Tensor:
        squares = self._unbroadcasted_cov_factor.pow(2).sum(-1)
        return (squares + self._unbroadcasted_cov_diag).expand(
            tuple(self._batch_shape) + tuple(self._event_shape))

    def _wide(self, matrix: fg.Tensor) -> fg.Tensor:
        events = tuple(self._event_shape)
        return matrix.expand(tuple(self._batch_shape) + events + events)

    @lazy_property
    def scale_tril(self) -> fg.Tensor:
        """The lower Cholesky factor: D^(1/2) times that of I + D^(-1/2) W W^T D^(-1/2)."""
        n, diag = self._event_shape[0], self._unbroadcasted_cov_diag
        root = diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        inside = scaled @ scaled.mT + fg.eye(n, dtype=diag.dtype)
        return self._wide(root * fg.linalg.cholesky(inside))

    @lazy_property
    def covariance_matrix(self) -> fg.Tensor:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        return self._wide(factor @ factor.mT + fg.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self) -> fg.Tensor:
        """The inverse of the covariance, by Woodbury's identity."""
        diag = self._unbroadcasted_cov_diag
        scaled = (self._unbroadcasted_cov_factor / diag.unsqueeze(-1)).mT
        part = fg.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self._wide(fg.diag_embed(diag.reciprocal()) - part.mT @ part)

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        rank = self.cov_factor.shape[-1]
        eps_w = _standard_normal(tuple(shape[:-1]) + (rank,), self.loc.dtype)
        eps_d = _standard_normal(shape, self.loc.dtype)
        return (self.loc + _batch_mv(self._unbroadcasted_cov_factor, eps_w)
                + self._unbroadcasted_cov_diag.sqrt() * eps_d)

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        factor, diag = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        distance = _mahalanobis(factor, diag, value - self.loc, self._capacitance_tril)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + _log_det(diag, self._capacitance_tril) + distance)

    def entropy(self) -> fg.Tensor:
        log_det = _log_det(self._unbroadcasted_cov_diag, self._capacitance_tril)
        constant = self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (0.5 * (constant + log_det)).expand(self._batch_shape)

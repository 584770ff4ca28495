"""The Wishart distribution."""

from __future__ import annotations

import math
import warnings
from numbers import Number
from typing import Any

import foregrad as fg
from foregrad import Size, _C
from foregrad.distributions import constraints
from foregrad.distributions.chi2 import Chi2
from foregrad.distributions.exp_family import ExponentialFamily
from foregrad.distributions.multivariate_normal import (
    _half_log_det,
    _precision_to_scale_tril,
    _require_matrix,
)
from foregrad.distributions.utils import _broadcast_shapes, _refuse, lazy_property

__all__ = ["Wishart"]

_LOG_TWO = math.log(2)


def _multi_digamma(x: fg.Tensor, p: int) -> fg.Tensor:
    """The sum of digamma(x - i / 2) over i = 0 ... p - 1."""
    return fg.digamma(x.unsqueeze(-1) - fg.arange(p, dtype=x.dtype) / 2).sum(-1)


def _log_det(matrix: fg.Tensor) -> fg.Tensor:
    """log |matrix| of positive-definite ones; NaN of others."""
    factor, info = fg.linalg.cholesky_ex(matrix)
    diagonal = factor.diagonal(dim1=-2, dim2=-1)
    return 2 * fg.where((info == 0).unsqueeze(-1), diagonal, math.nan).log().sum(-1)


class Wishart(ExponentialFamily):
    """Matrices X X^T of `df` normal columns X with a covariance, its inverse, or its factor."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        return {"covariance_matrix": constraints.positive_definite,
                "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky,
                "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def __init__(self, df: fg.Tensor | int | float | bool,
                 covariance_matrix: fg.Tensor | None = None,
                 precision_matrix: fg.Tensor | None = None, scale_tril: fg.Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        given = {"scale_tril": scale_tril, "covariance_matrix": covariance_matrix,
                 "precision_matrix": precision_matrix}
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril "
                             "may be specified.")
        ((name, matrix),) = given.items()
        _require_matrix(name, matrix)
        if isinstance(df, Number):
            df = fg.tensor(df, dtype=matrix.dtype)
        batch = tuple(_broadcast_shapes(matrix.shape[:-2], df.shape))
        event = matrix.shape[-2:]
        self._require_df(df, event[-1])
        self.df = df.expand(batch)
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        self._batch_shape, self._event_shape = Size(batch), Size(event)
        super().__init__(Size(batch), Size(event), validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = fg.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)
        self._dist_chi2 = Chi2(self.df.unsqueeze(-1) - fg.arange(event[-1], dtype=df.dtype),
                               validate_args=False)

    @staticmethod
    def _require_df(df: fg.Tensor, n: int) -> None:
        _refuse(df > n - 1,
                lambda: f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.",
                f"Value of df expected to be greater than ndim - 1 = {n - 1}.")
        if not _C.is_capturing() and (df < n).any():
            warnings.warn("Low df values detected. Singular samples are highly likely to occur "
                          "for ndim - 1 < df < ndim.", stacklevel=3)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Wishart:
        new = self._expanded(Wishart, batch_shape, _instance,
                             {"df": 0, "covariance_matrix": 2, "scale_tril": 2,
                              "precision_matrix": 2})
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        new._dist_chi2 = self._dist_chi2.expand(tuple(batch_shape) + tuple(self._event_shape[-1:]))
        return new

    def _wide(self, matrix: fg.Tensor) -> fg.Tensor:
        return matrix.expand(tuple(self._batch_shape) + tuple(self._event_shape))

    @lazy_property
    def scale_tril(self) -> fg.Tensor:
        """The lower Cholesky factor of the covariance of a column."""
        return self._wide(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> fg.Tensor:
        """The covariance of a column."""
        lower = self._unbroadcasted_scale_tril
        return self._wide(lower @ lower.mT)

    @lazy_property
    def precision_matrix(self) -> fg.Tensor:
        """The inverse of the covariance of a column."""
        return self._wide(fg.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> fg.Tensor:
        return self.df.reshape(tuple(self._batch_shape) + (1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> fg.Tensor:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = fg.where(factor <= 0, math.nan, factor)
        return factor.reshape(tuple(self._batch_shape) + (1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> fg.Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.reshape(tuple(self._batch_shape) + (1, 1)) * (v.pow(2) + products)

    def _bartlett_sampling(self, sample_shape: Any = Size()) -> fg.Tensor:
        """L A A^T L^T: A has roots of chi-squared numbers and normal ones below (Bartlett)."""
        roots = self._dist_chi2.rsample(sample_shape).clamp(
            min=fg.finfo(self.df.dtype).tiny).sqrt()
        shape = self._extended_shape(sample_shape)
        below = fg.randn(tuple(shape), dtype=self.df.dtype).tril(-1)
        factor = self._unbroadcasted_scale_tril @ (fg.diag_embed(roots) + below)
        return factor @ factor.mT

    def rsample(self, sample_shape: Any = Size(),
                max_try_correction: int | None = None) -> fg.Tensor:
        """Values by Bartlett's method; singular ones are drawn again, so often at most."""
        sample = self._bartlett_sampling(sample_shape)
        if _C.is_capturing():
            return sample
        for _ in range(10 if max_try_correction is None else max_try_correction):
            regular = self.support.check(sample)
            if regular.all():
                break
            warnings.warn("Singular sample detected.", stacklevel=2)
            again = self._bartlett_sampling(sample_shape)
            sample = fg.where(regular.unsqueeze(-1).unsqueeze(-1), sample, again)
        return sample

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        df, p, lower = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        solved = fg.cholesky_solve(value, lower)
        trace = solved.diagonal(dim1=-2, dim2=-1).sum(-1)
        return (-df * (p * _LOG_TWO / 2 + _half_log_det(lower)) - fg.mvlgamma(df / 2, p)
                + (df - p - 1) / 2 * _log_det(value) - trace / 2)

    def entropy(self) -> fg.Tensor:
        df, p = self.df, self._event_shape[-1]
        half = _half_log_det(self._unbroadcasted_scale_tril)
        return ((p + 1) * (p * _LOG_TWO / 2 + half) + fg.mvlgamma(df / 2, p)
                - (df - p - 1) / 2 * _multi_digamma(df / 2, p) + df * p / 2)

    @property
    def _natural_params(self) -> tuple[fg.Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        p = self._event_shape[-1]
        shape = y + (p + 1) / 2
        return shape * (p * _LOG_TWO - _log_det(-2 * x)) + fg.mvlgamma(shape, p)

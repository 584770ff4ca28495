"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.chi2 import Chi2
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.utils import _standard_normal, broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t with `df` degrees of freedom, moved by `loc` and stretched by `scale`."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real,
                       "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: fg.Tensor | float, loc: fg.Tensor | float = 0.0,
                 scale: fg.Tensor | float = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df, validate_args=validate_args)
        super().__init__(self.df.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> StudentT:
        new = self._expanded(StudentT, batch_shape, _instance, {"df": 0, "loc": 0, "scale": 0})
        new._chi2 = self._chi2.expand(batch_shape)
        return new

    @property
    def mean(self) -> fg.Tensor:
        return fg.where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> fg.Tensor:
        return self.loc

    @property
    def variance(self) -> fg.Tensor:
        safe = fg.where(self.df > 2, self.df, 3.0)
        result = fg.where(self.df > 2, self.scale.pow(2) * safe / (safe - 2), math.inf)
        return fg.where(self.df <= 1, math.nan, result)

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        z = _standard_normal(shape, self.df.dtype)
        return self.loc + self.scale * z * fg.rsqrt(self._chi2.rsample(sample_shape) / self.df)

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        half = 0.5 * self.df
        constant = (self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
                    + fg.lgamma(half) - fg.lgamma(half + 0.5))
        return -(half + 0.5) * fg.log1p(y * y / self.df) - constant

    def entropy(self) -> fg.Tensor:
        half = 0.5 * self.df
        log_beta = fg.lgamma(half) + math.lgamma(0.5) - fg.lgamma(half + 0.5)
        return (self.scale.log() + (half + 0.5) * (fg.digamma(half + 0.5) - fg.digamma(half))
                + 0.5 * self.df.log() + log_beta)

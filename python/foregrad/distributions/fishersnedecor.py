"""The F distribution."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.gamma import Gamma
from foregrad.distributions.utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """Ratios of two chi-squared numbers, each over its degrees of freedom df1 and df2."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: fg.Tensor | float, df2: fg.Tensor | float,
                 validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1, validate_args=validate_args)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2, validate_args=validate_args)
        super().__init__(self.df1.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> FisherSnedecor:
        new = self._expanded(FisherSnedecor, batch_shape, _instance, {"df1": 0, "df2": 0})
        new._gamma1 = self._gamma1.expand(batch_shape)
        new._gamma2 = self._gamma2.expand(batch_shape)
        return new

    @property
    def mean(self) -> fg.Tensor:
        safe = fg.where(self.df2 > 2, self.df2, math.nan)
        return safe / (safe - 2)

    @property
    def mode(self) -> fg.Tensor:
        inside = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return fg.where(self.df1 <= 2, math.nan, inside)

    @property
    def variance(self) -> fg.Tensor:
        safe = fg.where(self.df2 > 4, self.df2, math.nan)
        return (2 * safe.pow(2) * (self.df1 + safe - 2)
                / (self.df1 * (safe - 2).pow(2) * (safe - 4)))

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        tiny = fg.finfo(self.df2.dtype).tiny
        value = self._gamma1.rsample(sample_shape) / self._gamma2.rsample(sample_shape).clamp(
            min=tiny)
        return value.clamp(min=tiny)

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        constant = fg.lgamma(half1 + half2) - fg.lgamma(half1) - fg.lgamma(half2)
        return (constant + half1 * ratio.log() + (half1 - 1) * value.log()
                - (half1 + half2) * fg.log1p(ratio * value))

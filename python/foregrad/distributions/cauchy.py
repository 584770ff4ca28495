"""The Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.utils import broadcast_all

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """Cauchy numbers with median `loc` and half width `scale`; they have no mean."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: fg.Tensor | float, scale: fg.Tensor | float,
                 validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Cauchy:
        return self._expanded(Cauchy, batch_shape, _instance, {"loc": 0, "scale": 0})

    @property
    def mean(self) -> fg.Tensor:
        return fg.full(self._extended_shape(), math.nan, dtype=self.loc.dtype)

    @property
    def mode(self) -> fg.Tensor:
        return self.loc

    @property
    def variance(self) -> fg.Tensor:
        return fg.full(self._extended_shape(), math.inf, dtype=self.loc.dtype)

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        u = fg.rand(shape, dtype=self.loc.dtype)
        return self.loc + fg.tan((u - 0.5) * math.pi) * self.scale

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - fg.log1p(z * z)

    def cdf(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return fg.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: fg.Tensor) -> fg.Tensor:
        return fg.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> fg.Tensor:
        return math.log(4 * math.pi) + self.scale.log()

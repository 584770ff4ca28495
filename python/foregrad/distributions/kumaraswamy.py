"""The Kumaraswamy distribution."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.transformed_distribution import TransformedDistribution
from foregrad.distributions.transforms import AffineTransform, PowerTransform
from foregrad.distributions.uniform import Uniform
from foregrad.distributions.utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Numbers in (0, 1) whose survival is (1 - x^concentration1)^concentration0."""

    arg_constraints = {"concentration1": constraints.positive,
                       "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: fg.Tensor | float, concentration0: fg.Tensor | float,
                 validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(fg.full_like(self.concentration0, 0),
                       fg.full_like(self.concentration0, 1), validate_args=validate_args)
        parts = [PowerTransform(exponent=self.concentration0.reciprocal()),
                 AffineTransform(loc=1.0, scale=-1.0),
                 PowerTransform(exponent=self.concentration1.reciprocal())]
        super().__init__(base, parts, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Kumaraswamy:
        new = self._get_checked_instance(Kumaraswamy, _instance)
        new.concentration1 = self.concentration1.expand(tuple(batch_shape))
        new.concentration0 = self.concentration0.expand(tuple(batch_shape))
        return super().expand(batch_shape, _instance=new)

    def _moment(self, n: int) -> fg.Tensor:
        """The mean of x^n: b B(1 + n / a, b)."""
        a, b = self.concentration1, self.concentration0
        return fg.exp(b.log() + fg.lgamma(1 + n / a) + fg.lgamma(b) - fg.lgamma(1 + n / a + b))

    @property
    def mean(self) -> fg.Tensor:
        return self._moment(1)

    @property
    def mode(self) -> fg.Tensor:
        a, b = self.concentration1, self.concentration0
        log_mode = a.reciprocal() * (fg.log1p(-a) - fg.log1p(-a * b))
        outside = (a < 1) | (b < 1)
        inside = ((a - 1) / (a * b - 1)) ** a.reciprocal()
        return fg.where(outside, math.nan, fg.where(a > 1, inside, log_mode.exp()))

    @property
    def variance(self) -> fg.Tensor:
        return self._moment(2) - fg.pow(self.mean, 2)

    def entropy(self) -> fg.Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = fg.digamma(b + 1) + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - fg.log(a) - fg.log(b)

"""The Weibull distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.exponential import Exponential
from foregrad.distributions.transformed_distribution import TransformedDistribution
from foregrad.distributions.transforms import AffineTransform, PowerTransform
from foregrad.distributions.utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Numbers whose survival is exp(-(x / scale)^concentration)."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: fg.Tensor | float, concentration: fg.Tensor | float,
                 validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(fg.ones_like(self.scale), validate_args=validate_args)
        parts = [PowerTransform(exponent=self.concentration_reciprocal),
                 AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, parts, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Weibull:
        new = self._get_checked_instance(Weibull, _instance)
        new.scale = self.scale.expand(tuple(batch_shape))
        new.concentration = self.concentration.expand(tuple(batch_shape))
        new.concentration_reciprocal = new.concentration.reciprocal()
        base = self.base_dist.expand(batch_shape)
        parts = [PowerTransform(exponent=new.concentration_reciprocal),
                 AffineTransform(loc=0, scale=new.scale)]
        super(Weibull, new).__init__(base, parts, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def mean(self) -> fg.Tensor:
        return self.scale * fg.exp(fg.lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self) -> fg.Tensor:
        share = (self.concentration - 1) / self.concentration
        return self.scale * share ** self.concentration.reciprocal()

    @property
    def variance(self) -> fg.Tensor:
        of_squares = fg.exp(fg.lgamma(1 + 2 * self.concentration_reciprocal))
        of_mean = fg.exp(2 * fg.lgamma(1 + self.concentration_reciprocal))
        return self.scale.pow(2) * (of_squares - of_mean)

    def entropy(self) -> fg.Tensor:
        inverse = self.concentration_reciprocal
        return euler_constant * (1 - inverse) + fg.log(self.scale * inverse) + 1

"""The inverse gamma distribution."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.gamma import Gamma
from foregrad.distributions.transformed_distribution import TransformedDistribution
from foregrad.distributions.transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """One over gamma numbers of this `concentration` and `rate`."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: fg.Tensor | float, rate: fg.Tensor | float,
                 validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        minus_one = -fg.ones((), dtype=base.rate.dtype)
        super().__init__(base, PowerTransform(minus_one), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> InverseGamma:
        new = self._get_checked_instance(InverseGamma, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def concentration(self) -> fg.Tensor:
        """The shape of the gamma numbers."""
        return self.base_dist.concentration

    @property
    def rate(self) -> fg.Tensor:
        """The rate of the gamma numbers."""
        return self.base_dist.rate

    @property
    def mean(self) -> fg.Tensor:
        safe = fg.where(self.concentration > 1, self.concentration, 2.0)
        return fg.where(self.concentration > 1, self.rate / (safe - 1), math.inf)

    @property
    def mode(self) -> fg.Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> fg.Tensor:
        safe = fg.where(self.concentration > 2, self.concentration, 3.0)
        inside = self.rate.square() / ((safe - 1).square() * (safe - 2))
        return fg.where(self.concentration > 2, inside, math.inf)

    def entropy(self) -> fg.Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()

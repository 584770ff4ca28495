"""The half-normal distribution."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.normal import Normal
from foregrad.distributions.transformed_distribution import TransformedDistribution
from foregrad.distributions.transforms import AbsTransform

__all__ = ["HalfNormal"]


class HalfNormal(TransformedDistribution):
    """Absolute values of normal numbers with mean 0 and standard deviation `scale`."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: fg.Tensor | float,
                 validate_args: bool | None = None) -> None:
        base = Normal(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> HalfNormal:
        new = self._get_checked_instance(HalfNormal, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def scale(self) -> fg.Tensor:
        """The standard deviation of the normal numbers."""
        return self.base_dist.scale

    @property
    def mean(self) -> fg.Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> fg.Tensor:
        return fg.zeros_like(self.scale)

    @property
    def variance(self) -> fg.Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return fg.where(value >= 0, log_prob, -math.inf)

    def cdf(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: fg.Tensor) -> fg.Tensor:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> fg.Tensor:
        return self.base_dist.entropy() - math.log(2)

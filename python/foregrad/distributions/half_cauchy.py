"""The half-Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.cauchy import Cauchy
from foregrad.distributions.transformed_distribution import TransformedDistribution
from foregrad.distributions.transforms import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(TransformedDistribution):
    """Absolute values of Cauchy numbers with median 0 and half width `scale`."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: fg.Tensor | float,
                 validate_args: bool | None = None) -> None:
        base = Cauchy(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> HalfCauchy:
        new = self._get_checked_instance(HalfCauchy, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def scale(self) -> fg.Tensor:
        """The half width of the Cauchy numbers."""
        return self.base_dist.scale

    @property
    def mean(self) -> fg.Tensor:
        return fg.full(self._extended_shape(), math.inf, dtype=self.scale.dtype)

    @property
    def mode(self) -> fg.Tensor:
        return fg.zeros_like(self.scale)

    @property
    def variance(self) -> fg.Tensor:
        return self.base_dist.variance

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value = fg.as_tensor(value, dtype=self.base_dist.scale.dtype)
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

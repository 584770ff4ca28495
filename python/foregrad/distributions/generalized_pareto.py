"""The generalised Pareto distribution."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Excesses over `loc`: the survival is (1 + concentration z)^(-1 / concentration).

    z is (x - loc) / scale; with concentration 0 the survival is exp(-z).
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive,
                       "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: fg.Tensor | float, scale: fg.Tensor | float,
                 concentration: fg.Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> GeneralizedPareto:
        return self._expanded(GeneralizedPareto, batch_shape, _instance,
                              {"loc": 0, "scale": 0, "concentration": 0})

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> constraints.Constraint:
        upper = fg.where(self.concentration < 0,
                         self.loc - self.scale / self._nonzero(-1.0), math.inf)
        return constraints.interval(self.loc, upper)

    def _is_zero(self) -> fg.Tensor:
        return fg.isclose(self.concentration, fg.zeros((), dtype=self.concentration.dtype))

    def _nonzero(self, instead: float) -> fg.Tensor:
        return fg.where(self._is_zero(), instead, self.concentration)

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(fg.rand(shape, dtype=self.loc.dtype))

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z, k = self._z(value), self._nonzero(1.0)
        general = -(1 + 1 / k) * fg.log1p(k * z)
        inside = fg.where(self._is_zero(), -z, general) - self.scale.log()
        return fg.where(z < 0, -math.inf, inside)

    def log_survival_function(self, value: fg.Tensor) -> fg.Tensor:
        """The logarithm of the probability of larger values."""
        if self._validate_args:
            self._validate_sample(value)
        z, k = self._z(value), self._nonzero(1.0)
        return fg.where(self._is_zero(), -z, -fg.log1p(k * z) / k)

    def log_cdf(self, value: fg.Tensor) -> fg.Tensor:
        """The logarithm of cdf."""
        return fg.log1p(-fg.exp(self.log_survival_function(value)))

    def cdf(self, value: fg.Tensor) -> fg.Tensor:
        return fg.exp(self.log_cdf(value))

    def icdf(self, value: fg.Tensor) -> fg.Tensor:
        k, log_rest = self._nonzero(1.0), fg.log1p(-value)
        z = fg.where(self._is_zero(), -log_rest, fg.expm1(-k * log_rest) / k)
        return self.loc + self.scale * z

    def _z(self, x: fg.Tensor) -> fg.Tensor:
        return (x - self.loc) / self.scale

    @property
    def mean(self) -> fg.Tensor:
        k = self.concentration
        inside = self.loc + self.scale / (1 - fg.where(k < 1, k, 0.0))
        return fg.where(k < 1, inside, math.inf)

    @property
    def variance(self) -> fg.Tensor:
        k = self.concentration
        safe = fg.where(k < 0.5, k, 0.0)
        inside = self.scale.pow(2) / ((1 - safe).pow(2) * (1 - 2 * safe))
        return fg.where(k < 0.5, inside, math.inf)

    def entropy(self) -> fg.Tensor:
        return (fg.log(self.scale) + self.concentration + 1).expand(self._batch_shape)

    @property
    def mode(self) -> fg.Tensor:
        return self.loc

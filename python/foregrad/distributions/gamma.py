"""The gamma distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.exp_family import ExponentialFamily
from foregrad.distributions.utils import broadcast_all

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Gamma numbers with the shape `concentration` and a `rate`."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: fg.Tensor | float, rate: fg.Tensor | float,
                 validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Gamma:
        return self._expanded(Gamma, batch_shape, _instance, {"concentration": 0, "rate": 0})

    @property
    def mean(self) -> fg.Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> fg.Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> fg.Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        value = fg._standard_gamma(self.concentration.expand(shape)) / self.rate
        # A copy without history, so that a sample at 0 takes no gradient with it.
        return value.clamp(min=fg.finfo(value.dtype).tiny)

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        value = fg.as_tensor(value, dtype=self.rate.dtype)
        if self._validate_args:
            self._validate_sample(value)
        a, rate = self.concentration, self.rate
        return fg.xlogy(a, rate) + fg.xlogy(a - 1, value) - rate * value - fg.lgamma(a)

    def cdf(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return fg.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> fg.Tensor:
        a = self.concentration
        return a - fg.log(self.rate) + fg.lgamma(a) + (1.0 - a) * fg.digamma(a)

    @property
    def _natural_params(self) -> tuple[fg.Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        return fg.lgamma(x + 1) + (x + 1) * fg.log(-y.reciprocal())

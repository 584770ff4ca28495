"""The exponential distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.exp_family import ExponentialFamily
from foregrad.distributions.utils import broadcast_all

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """Waiting times of events that come with a `rate`."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: fg.Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Exponential:
        return self._expanded(Exponential, batch_shape, _instance, {"rate": 0})

    @property
    def mean(self) -> fg.Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> fg.Tensor:
        return fg.zeros_like(self.rate)

    @property
    def stddev(self) -> fg.Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> fg.Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        return fg.empty(shape, dtype=self.rate.dtype).exponential_() / self.rate

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -fg.expm1(-self.rate * value)

    def icdf(self, value: fg.Tensor) -> fg.Tensor:
        return -fg.log1p(-value) / self.rate

    def entropy(self) -> fg.Tensor:
        return 1.0 - fg.log(self.rate)

    @property
    def _natural_params(self) -> tuple[fg.Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: fg.Tensor) -> fg.Tensor:
        return -fg.log(-x)

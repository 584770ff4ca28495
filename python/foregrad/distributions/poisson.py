"""The Poisson distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.exp_family import ExponentialFamily
from foregrad.distributions.utils import broadcast_all

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """Counts of events that come with a `rate`."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: fg.Tensor | int | float | bool,
                 validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Poisson:
        return self._expanded(Poisson, batch_shape, _instance, {"rate": 0})

    @property
    def mean(self) -> fg.Tensor:
        return self.rate

    @property
    def mode(self) -> fg.Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> fg.Tensor:
        return self.rate

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        with fg.no_grad():
            return fg.poisson(self.rate.expand(shape))

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - fg.lgamma(value + 1)

    @property
    def _natural_params(self) -> tuple[fg.Tensor, ...]:
        return (fg.log(self.rate),)

    def _log_normalizer(self, x: fg.Tensor) -> fg.Tensor:
        return fg.exp(x)

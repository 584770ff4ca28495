"""The uniform distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.utils import broadcast_all

__all__ = ["Uniform"]


class Uniform(Distribution):
    """Numbers in [low, high), equally likely."""

    has_rsample = True

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        return {"low": constraints.less_than(self.high),
                "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> constraints.Constraint:
        return constraints.interval(self.low, self.high)

    def __init__(self, low: fg.Tensor | float, high: fg.Tensor | float,
                 validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Uniform:
        return self._expanded(Uniform, batch_shape, _instance, {"low": 0, "high": 0})

    @property
    def mean(self) -> fg.Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> fg.Tensor:
        return fg.full_like(self.high, float("nan"))

    @property
    def stddev(self) -> fg.Tensor:
        return (self.high - self.low) / 12 ** 0.5

    @property
    def variance(self) -> fg.Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        u = fg.rand(shape, dtype=self.low.dtype)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        inside = (self.low <= value) & (value < self.high)
        return fg.log(inside.type_as(self.low)) - fg.log(self.high - self.low)

    def cdf(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: fg.Tensor) -> fg.Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> fg.Tensor:
        return fg.log(self.high - self.low)

"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.exp_family import ExponentialFamily
from foregrad.distributions.utils import _HALF_LOG_TWO_PI, _standard_normal, broadcast_all

__all__ = ["Normal"]


class Normal(ExponentialFamily):
    """Normal numbers with mean `loc` and standard deviation `scale`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, loc: fg.Tensor | float, scale: fg.Tensor | float,
                 validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Normal:
        return self._expanded(Normal, batch_shape, _instance, {"loc": 0, "scale": 0})

    @property
    def mean(self) -> fg.Tensor:
        return self.loc

    @property
    def mode(self) -> fg.Tensor:
        return self.loc

    @property
    def stddev(self) -> fg.Tensor:
        return self.scale

    @property
    def variance(self) -> fg.Tensor:
        return self.stddev.pow(2)

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        return self.loc + _standard_normal(shape, self.loc.dtype) * self.scale

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -0.5 * z * z - self.scale.log() - _HALF_LOG_TWO_PI

    def cdf(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * fg.erfc((self.loc - value) / (self.scale * math.sqrt(2)))

    def icdf(self, value: fg.Tensor) -> fg.Tensor:
        return self.loc + self.scale * fg.special.ndtri(value)

    def entropy(self) -> fg.Tensor:
        return 0.5 + _HALF_LOG_TWO_PI + fg.log(self.scale)

    @property
    def _natural_params(self) -> tuple[fg.Tensor, ...]:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        return -0.25 * x.pow(2) / y + 0.5 * fg.log(-math.pi / y)

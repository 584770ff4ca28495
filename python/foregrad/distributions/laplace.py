"""The Laplace distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.utils import broadcast_all

__all__ = ["Laplace"]


class Laplace(Distribution):
    """Numbers whose distance from `loc` is exponential with mean `scale`, on either side."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: fg.Tensor | float, scale: fg.Tensor | float,
                 validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Laplace:
        return self._expanded(Laplace, batch_shape, _instance, {"loc": 0, "scale": 0})

    @property
    def mean(self) -> fg.Tensor:
        return self.loc

    @property
    def mode(self) -> fg.Tensor:
        return self.loc

    @property
    def variance(self) -> fg.Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> fg.Tensor:
        return 2 ** 0.5 * self.scale

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        # u in (-1, 1): 1 - 2 rand is in (-1, 1], whose end the epsilon takes away.
        eps = fg.finfo(self.loc.dtype).eps
        u = (1 - 2 * fg.rand(shape, dtype=self.loc.dtype)).clamp(eps - 1, 1 - eps)
        return self.loc - self.scale * u.sign() * fg.log1p(-u.abs())

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -fg.log(2 * self.scale) - fg.abs(value - self.loc) / self.scale

    def cdf(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        far = value - self.loc
        return 0.5 - 0.5 * far.sign() * fg.expm1(-far.abs() / self.scale)

    def icdf(self, value: fg.Tensor) -> fg.Tensor:
        far = value - 0.5
        return self.loc - self.scale * far.sign() * fg.log1p(-2 * far.abs())

    def entropy(self) -> fg.Tensor:
        return 1 + fg.log(2 * self.scale)

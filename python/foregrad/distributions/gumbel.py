"""The Gumbel distribution."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.transformed_distribution import TransformedDistribution
from foregrad.distributions.transforms import AffineTransform, ExpTransform
from foregrad.distributions.uniform import Uniform
from foregrad.distributions.utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """Largest values: loc - scale log(-log u) for a uniform u."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: fg.Tensor | float, scale: fg.Tensor | float,
                 validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = fg.finfo(self.loc.dtype)
        base = Uniform(fg.full_like(self.loc, limits.tiny),
                       fg.full_like(self.loc, 1 - limits.eps), validate_args=validate_args)
        parts = [ExpTransform().inv, AffineTransform(0, -fg.ones_like(self.scale)),
                 ExpTransform().inv, AffineTransform(self.loc, -self.scale)]
        super().__init__(base, parts, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Gumbel:
        new = self._get_checked_instance(Gumbel, _instance)
        new.loc = self.loc.expand(tuple(batch_shape))
        new.scale = self.scale.expand(tuple(batch_shape))
        return super().expand(batch_shape, _instance=new)

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def cdf(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return fg.exp(-fg.exp((self.loc - value) / self.scale))

    def icdf(self, value: fg.Tensor) -> fg.Tensor:
        return self.loc - self.scale * fg.log(-fg.log(value))

    @property
    def mean(self) -> fg.Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> fg.Tensor:
        return self.loc

    @property
    def stddev(self) -> fg.Tensor:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> fg.Tensor:
        return self.stddev.pow(2)

    def entropy(self) -> fg.Tensor:
        return self.scale.log() + (1 + euler_constant)

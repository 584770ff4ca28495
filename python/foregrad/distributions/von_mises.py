"""The von Mises distribution."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad import _C
from foregrad.distributions import constraints
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


def _log_bessel(x: fg.Tensor, order: int) -> fg.Tensor:
    """The logarithm of the modified Bessel function of the first kind, for x > 0."""
    scaled = fg.special.i0e(x) if order == 0 else fg.special.i1e(x)
    return scaled.log() + x


class VonMises(Distribution):
    """Angles around `loc`, the closer the larger their `concentration`."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: fg.Tensor, concentration: fg.Tensor,
                 validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> VonMises:
        return self._expanded(VonMises, batch_shape, _instance, {"loc": 0, "concentration": 0})

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return (self.concentration * fg.cos(value - self.loc) - math.log(2 * math.pi)
                - _log_bessel(self.concentration, 0))

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        """Values by rejection from a wrapped Cauchy distribution (Best and Fisher, 1979)."""
        shape = self._extended_shape(sample_shape)
        with fg.no_grad():
            concentration = self.concentration.double().expand(shape)
            angle = _C._functions._sample_von_mises(concentration)
            turned = (angle + math.pi + self.loc.double()) % (2 * math.pi) - math.pi
            return turned.to(self.loc.dtype)

    @property
    def mean(self) -> fg.Tensor:
        """The circular mean."""
        return self.loc

    @property
    def mode(self) -> fg.Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> fg.Tensor:
        """The circular variance."""
        return 1 - fg.special.i1e(self.concentration) / fg.special.i0e(self.concentration)

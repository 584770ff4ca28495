"""The beta distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.dirichlet import Dirichlet
from foregrad.distributions.exp_family import ExponentialFamily
from foregrad.distributions.utils import broadcast_all

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """Numbers in (0, 1) with the density x^(concentration1 - 1) (1 - x)^(concentration0 - 1)."""

    arg_constraints = {"concentration1": constraints.positive,
                       "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: fg.Tensor | float, concentration0: fg.Tensor | float,
                 validate_args: bool | None = None) -> None:
        both = fg.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Beta:
        new = self._get_checked_instance(Beta, _instance)
        new._dirichlet = self._dirichlet.expand(batch_shape)
        super(Beta, new).__init__(Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def mean(self) -> fg.Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> fg.Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> fg.Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(fg.stack([value, 1.0 - value], -1))

    def entropy(self) -> fg.Tensor:
        return self._dirichlet.entropy()

    @property
    def concentration1(self) -> fg.Tensor:
        """The exponent of x, plus 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> fg.Tensor:
        """The exponent of 1 - x, plus 1."""
        return self._dirichlet.concentration[..., 1]

    @property
    def _natural_params(self) -> tuple[fg.Tensor, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        return fg.lgamma(x) + fg.lgamma(y) - fg.lgamma(x + y)

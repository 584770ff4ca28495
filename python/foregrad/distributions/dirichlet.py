"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Points of a simplex with the density prod x_i^(concentration_i - 1)."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: fg.Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Dirichlet:
        return self._expanded(Dirichlet, batch_shape, _instance, {"concentration": 1})

    def rsample(self, sample_shape: Any = ()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        return fg._sample_dirichlet(self.concentration.expand(shape))

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return fg.xlogy(a - 1.0, value).sum(-1) + fg.lgamma(a.sum(-1)) - fg.lgamma(a).sum(-1)

    @property
    def mean(self) -> fg.Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> fg.Tensor:
        above = (self.concentration - 1).clamp(min=0.0)
        inside = above / above.sum(-1, True)
        # With no concentration above 1, the largest one has its corner for a mode.
        corner = fg.nn.functional.one_hot(inside.argmax(-1), above.shape[-1]).to(above.dtype)
        outside = (self.concentration < 1).all(-1, keepdim=True)
        return fg.where(outside, corner, inside)

    @property
    def variance(self) -> fg.Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> fg.Tensor:
        a, k = self.concentration, self.concentration.shape[-1]
        total = a.sum(-1)
        return (fg.lgamma(a).sum(-1) - fg.lgamma(total) - (k - total) * fg.digamma(total)
                - ((a - 1.0) * fg.digamma(a)).sum(-1))

    @property
    def _natural_params(self) -> tuple[fg.Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: fg.Tensor) -> fg.Tensor:
        return x.lgamma().sum(-1) - fg.lgamma(x.sum(-1))

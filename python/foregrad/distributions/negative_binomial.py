"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions._either import _ProbsOrLogits, _require_one
from foregrad.distributions.gamma import Gamma
from foregrad.distributions.utils import broadcast_all, lazy_property
from foregrad.nn.functional import logsigmoid

__all__ = ["NegativeBinomial"]


class NegativeBinomial(_ProbsOrLogits):
    """Successes of probability `probs` before `total_count` failures."""

    arg_constraints = {"total_count": constraints.greater_than_eq(0),
                       "probs": constraints.half_open_interval(0.0, 1.0),
                       "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, total_count: fg.Tensor | float, probs: fg.Tensor | None = None,
                 logits: fg.Tensor | None = None, validate_args: bool | None = None) -> None:
        _require_one(probs, logits)
        self._is_logits = probs is None
        if probs is not None:
            self.total_count, self.probs = broadcast_all(total_count, probs)
            self.total_count = self.total_count.type_as(self.probs)
        else:
            self.total_count, self.logits = broadcast_all(total_count, logits)
            self.total_count = self.total_count.type_as(self.logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> NegativeBinomial:
        new = self._expanded(NegativeBinomial, batch_shape, _instance,
                             {"total_count": 0, "probs": 0, "logits": 0})
        new._is_logits = self._is_logits
        return new

    @property
    def mean(self) -> fg.Tensor:
        return self.total_count * fg.exp(self.logits)

    @property
    def mode(self) -> fg.Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> fg.Tensor:
        return self.mean / fg.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        """The distribution of the rate of a Poisson number: their mixture."""
        return Gamma(concentration=self.total_count, rate=fg.exp(-self.logits),
                     validate_args=False)

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        with fg.no_grad():
            return fg.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        weights = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        ways = fg.lgamma(n + value) - fg.lgamma(1.0 + value) - fg.lgamma(n)
        return weights + fg.where(n + value == 0.0, 0.0, ways)

"""The binomial distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions._either import _ProbsOrLogits, _require_one
from foregrad.distributions.utils import broadcast_all

__all__ = ["Binomial"]


class Binomial(_ProbsOrLogits):
    """Successes among `total_count` trials."""

    arg_constraints = {"total_count": constraints.nonnegative_integer,
                       "probs": constraints.unit_interval, "logits": constraints.real}
    has_enumerate_support = True

    def __init__(self, total_count: fg.Tensor | int = 1, probs: fg.Tensor | None = None,
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

    def expand(self, batch_shape: Any, _instance: Any = None) -> Binomial:
        new = self._expanded(Binomial, batch_shape, _instance,
                             {"total_count": 0, "probs": 0, "logits": 0})
        new._is_logits = self._is_logits
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> fg.Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> fg.Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> fg.Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        with fg.no_grad():
            return fg.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        """log C(n, k) + k logits - n softplus(logits), the last in a form without overflow."""
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        ways = fg.lgamma(n + 1) - fg.lgamma(value + 1) - fg.lgamma(n - value + 1)
        softplus = logits.clamp(min=0) + fg.log1p(fg.exp(-logits.abs()))
        return value * logits + ways - n * softplus

    def _common_count(self, who: str) -> int:
        total = int(self.total_count.max())
        if not self.total_count.min() == total:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{who}`.")
        return total

    def entropy(self) -> fg.Tensor:
        self._common_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(fg.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> fg.Tensor:
        total = self._common_count("enumerate_support")
        values = fg.arange(1 + total, dtype=self._param.dtype)
        values = values.reshape((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values

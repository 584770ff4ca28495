"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions._either import _ProbsOrLogits, _require_one
from foregrad.distributions.exp_family import ExponentialFamily
from foregrad.distributions.utils import broadcast_all
from foregrad.nn.functional import binary_cross_entropy_with_logits

__all__ = ["Bernoulli"]


class Bernoulli(_ProbsOrLogits, ExponentialFamily):
    """1 with the probability `probs`, else 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs: fg.Tensor | int | float | bool | None = None,
                 logits: fg.Tensor | int | float | bool | None = None,
                 validate_args: bool | None = None) -> None:
        _require_one(probs, logits)
        self._is_logits = probs is None
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Bernoulli:
        new = self._expanded(Bernoulli, batch_shape, _instance, {"probs": 0, "logits": 0})
        new._is_logits = self._is_logits
        return new

    @property
    def mean(self) -> fg.Tensor:
        return self.probs

    @property
    def mode(self) -> fg.Tensor:
        likely = (self.probs >= 0.5).to(self.probs.dtype)
        return fg.where(self.probs == 0.5, float("nan"), likely)

    @property
    def variance(self) -> fg.Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        with fg.no_grad():
            return fg.bernoulli(self.probs.expand(shape))

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> fg.Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> fg.Tensor:
        values = fg.arange(2, dtype=self._param.dtype)
        values = values.reshape((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple[fg.Tensor, ...]:
        return (fg.logit(self.probs),)

    def _log_normalizer(self, x: fg.Tensor) -> fg.Tensor:
        return fg.log1p(fg.exp(x))

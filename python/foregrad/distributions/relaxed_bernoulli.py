"""Relaxed Bernoulli distributions."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions._either import _ProbsOrLogits, _require_one
from foregrad.distributions.transformed_distribution import TransformedDistribution
from foregrad.distributions.transforms import SigmoidTransform
from foregrad.distributions.utils import broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(_ProbsOrLogits):
    """Log odds of relaxed Bernoulli numbers: logistic ones around `logits`, over temperature."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(self, temperature: fg.Tensor,
                 probs: fg.Tensor | int | float | bool | None = None,
                 logits: fg.Tensor | int | float | bool | None = None,
                 validate_args: bool | None = None) -> None:
        self.temperature = temperature
        _require_one(probs, logits)
        self._is_logits = probs is None
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> LogitRelaxedBernoulli:
        new = self._expanded(LogitRelaxedBernoulli, batch_shape, _instance,
                             {"probs": 0, "logits": 0})
        new.temperature = self.temperature
        new._is_logits = self._is_logits
        return new

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(fg.rand(shape, dtype=probs.dtype))
        logistic = u.log() - (-u).log1p()
        return (logistic + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        far = logits - value * self.temperature
        temperature = fg.as_tensor(self.temperature, dtype=far.dtype)
        return temperature.log() + far - 2 * far.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers in (0, 1), the closer to 0 or 1 the lower the temperature."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature: fg.Tensor,
                 probs: fg.Tensor | int | float | bool | None = None,
                 logits: fg.Tensor | int | float | bool | None = None,
                 validate_args: bool | None = None) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> RelaxedBernoulli:
        new = self._get_checked_instance(RelaxedBernoulli, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def temperature(self) -> fg.Tensor:
        """The temperature of the relaxation."""
        return self.base_dist.temperature

    @property
    def logits(self) -> fg.Tensor:
        """Log odds."""
        return self.base_dist.logits

    @property
    def probs(self) -> fg.Tensor:
        """Probabilities."""
        return self.base_dist.probs

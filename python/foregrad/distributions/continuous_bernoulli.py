"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions._either import _ProbsOrLogits, _require_one
from foregrad.distributions.exp_family import ExponentialFamily
from foregrad.distributions.utils import _refuse, broadcast_all, clamp_probs
from foregrad.nn.functional import binary_cross_entropy_with_logits

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(_ProbsOrLogits, ExponentialFamily):
    """Numbers in [0, 1] with a density proportional to probs^x (1 - probs)^(1 - x).

    Closed forms lose their digits for probs within `lims`: series around 1/2 take over there.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs: fg.Tensor | int | float | bool | None = None,
                 logits: fg.Tensor | int | float | bool | None = None,
                 lims: tuple[float, float] = (0.499, 0.501),
                 validate_args: bool | None = None) -> None:
        _require_one(probs, logits)
        self._is_logits = probs is None
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
            if validate_args is not None and validate_args:
                _refuse(self.arg_constraints["probs"].check(self.probs),
                        lambda: "The parameter probs has invalid values",
                        "The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        else:
            (self.logits,) = broadcast_all(logits)
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> ContinuousBernoulli:
        new = self._expanded(ContinuousBernoulli, batch_shape, _instance,
                             {"probs": 0, "logits": 0})
        new._is_logits = self._is_logits
        new._lims = self._lims
        return new

    def _outside_unstable_region(self) -> fg.Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> fg.Tensor:
        """Probabilities for closed forms: the lower limit stands for those between the limits."""
        return fg.where(self._outside_unstable_region(), self.probs, self._lims[0])

    def _choose(self, closed: fg.Tensor, series: fg.Tensor) -> fg.Tensor:
        return fg.where(self._outside_unstable_region(), closed, series)

    def _cont_bern_log_norm(self) -> fg.Tensor:
        """log of 2 atanh(1 - 2 p) / (1 - 2 p), which is 2 at p = 1/2."""
        cut = self._cut_probs()
        below = fg.where(cut <= 0.5, cut, 0.0)
        above = fg.where(cut >= 0.5, cut, 1.0)
        closed = (fg.log(fg.abs(fg.log1p(-cut) - fg.log(cut)))
                  - fg.where(cut <= 0.5, fg.log1p(-2.0 * below), fg.log(2.0 * above - 1.0)))
        square = (self.probs - 0.5).pow(2)
        return self._choose(closed, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * square) * square)

    @property
    def mean(self) -> fg.Tensor:
        cut = self._cut_probs()
        closed = cut / (2.0 * cut - 1.0) + 1.0 / (fg.log1p(-cut) - fg.log(cut))
        far = self.probs - 0.5
        return self._choose(closed, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * far.pow(2)) * far)

    @property
    def stddev(self) -> fg.Tensor:
        return fg.sqrt(self.variance)

    @property
    def variance(self) -> fg.Tensor:
        cut = self._cut_probs()
        closed = (cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2)
                  + 1.0 / (fg.log1p(-cut) - fg.log(cut)).pow(2))
        square = (self.probs - 0.5).pow(2)
        return self._choose(closed, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * square) * square)

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        with fg.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(fg.rand(shape, dtype=self.probs.dtype))

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        weight = -binary_cross_entropy_with_logits(logits, value, reduction="none")
        return weight + self._cont_bern_log_norm()

    def cdf(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        cut = self._cut_probs()
        closed = ((fg.pow(cut, value) * fg.pow(1.0 - cut, 1.0 - value) + cut - 1.0)
                  / (2.0 * cut - 1.0))
        inside = self._choose(closed, value)
        return fg.where(value <= 0.0, 0.0, fg.where(value >= 1.0, 1.0, inside))

    def icdf(self, value: fg.Tensor) -> fg.Tensor:
        cut = self._cut_probs()
        closed = ((fg.log1p(-cut + value * (2.0 * cut - 1.0)) - fg.log1p(-cut))
                  / (fg.log(cut) - fg.log1p(-cut)))
        return self._choose(closed, value)

    def entropy(self) -> fg.Tensor:
        log_rest, log_probs = fg.log1p(-self.probs), fg.log(self.probs)
        return self.mean * (log_rest - log_probs) - self._cont_bern_log_norm() - log_rest

    @property
    def _natural_params(self) -> tuple[fg.Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: fg.Tensor) -> fg.Tensor:
        """log of (exp(x) - 1) / x, by its series near 0."""
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = fg.where(outside, x, self._lims[0] - 0.5)
        closed = fg.log(fg.abs(fg.special.expm1(cut))) - fg.log(fg.abs(cut))
        series = 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0
        return fg.where(outside, closed, series)

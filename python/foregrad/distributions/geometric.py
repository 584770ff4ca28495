"""The geometric distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions._either import _ProbsOrLogits, _require_one
from foregrad.distributions.utils import _refuse, broadcast_all, probs_to_logits
from foregrad.nn.functional import binary_cross_entropy_with_logits

__all__ = ["Geometric"]


class Geometric(_ProbsOrLogits):
    """Failures before the first success."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

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
        if self._validate_args and probs is not None:
            self._require_positive(self.probs)

    def _require_positive(self, value: fg.Tensor) -> None:
        _refuse(value > 0,
                lambda: f"Expected parameter probs ({type(value).__name__} of shape "
                        f"{tuple(value.shape)}) of distribution {self!r} to be positive but "
                        f"found invalid values:\n{value[~(value > 0)]}",
                "Expected parameter probs of distribution Geometric to be positive but found "
                "invalid values")

    def expand(self, batch_shape: Any, _instance: Any = None) -> Geometric:
        new = self._expanded(Geometric, batch_shape, _instance, {"probs": 0, "logits": 0})
        new._is_logits = self._is_logits
        return new

    @property
    def mean(self) -> fg.Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> fg.Tensor:
        return fg.zeros_like(self.probs)

    @property
    def variance(self) -> fg.Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape, tiny = self._extended_shape(sample_shape), fg.finfo(self.probs.dtype).tiny
        with fg.no_grad():
            u = fg.rand(shape, dtype=self.probs.dtype).clamp(min=tiny)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = fg.where((probs == 1) & (value == 0), 0.0, probs)  # 0 log 0 is 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> fg.Tensor:
        of_trial = binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return of_trial / self.probs

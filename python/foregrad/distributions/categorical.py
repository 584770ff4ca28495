"""The categorical distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions._either import _ProbsOrLogits, _require_one

__all__ = ["Categorical"]


class Categorical(_ProbsOrLogits):
    """Indices 0 to K - 1, with probabilities (or logits) along the last dimension."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _is_binary = False

    def __init__(self, probs: fg.Tensor | None = None, logits: fg.Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        _require_one(probs, logits)
        self._is_logits = probs is None
        if probs is not None:
            if probs.dim() < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            if logits.dim() < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Categorical:
        new = self._expanded(Categorical, batch_shape, _instance, {"probs": 1, "logits": 1})
        new._is_logits = self._is_logits
        new._num_events = self._num_events
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> fg.Tensor:
        return fg.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype)

    @property
    def mode(self) -> fg.Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> fg.Tensor:
        return fg.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype)

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        count = Size(sample_shape).numel()
        with fg.no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            if count == 0 or rows.shape[0] == 0:
                return fg.empty(self._extended_shape(sample_shape), dtype=fg.int64)
            drawn = fg.multinomial(rows, count, True).T
            return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        index = value.long().unsqueeze(-1)
        index, log_pmf = fg.broadcast_tensors(index, self.logits)
        return log_pmf.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> fg.Tensor:
        logits = self.logits.clamp(min=fg.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> fg.Tensor:
        values = fg.arange(self._num_events, dtype=fg.int64)
        values = values.reshape((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values

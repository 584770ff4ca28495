"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.binomial import Binomial
from foregrad.distributions.categorical import Categorical
from foregrad.distributions.distribution import Distribution

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """Counts of the categories among `total_count` draws."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count: int = 1, probs: fg.Tensor | None = None,
                 logits: fg.Tensor | None = None, validate_args: bool | None = None) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:],
                         validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Multinomial:
        new = self._get_checked_instance(Multinomial, _instance)
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(batch_shape)
        new._binomial = self._binomial.expand(tuple(batch_shape) + tuple(self.event_shape))
        super(Multinomial, new).__init__(Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> constraints.Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> fg.Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> fg.Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    @property
    def logits(self) -> fg.Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> fg.Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._categorical.param_shape

    @property
    def _param(self) -> fg.Tensor:
        return self._categorical._param

    def _new(self, *args: Any, **kwargs: Any) -> fg.Tensor:
        return self._categorical._new(*args, **kwargs)

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = Size(sample_shape)
        with fg.no_grad():
            drawn = self._categorical.sample(Size((self.total_count,) + tuple(shape)))
            counts = fg.zeros(self._extended_shape(shape), dtype=self.probs.dtype)
            places = fg.movedim(drawn, 0, -1)
            return counts.scatter_add(-1, places, fg.ones_like(places).to(counts.dtype))

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = fg.broadcast_tensors(self.logits, value)
        ways = fg.lgamma(value.sum(-1) + 1) - fg.lgamma(value + 1).sum(-1)
        impossible = (value == 0) & (logits == -float("inf"))
        return ways + (fg.where(impossible, 0.0, logits) * value).sum(-1)

    def entropy(self) -> fg.Tensor:
        """n H(category) - log n! + the means of log k! of the counts."""
        n = self.total_count
        of_order = fg.lgamma(fg.tensor(n + 1, dtype=self.probs.dtype))
        counts = self._binomial.enumerate_support(expand=False)[1:]
        chances = fg.exp(self._binomial.log_prob(counts))
        ways = (chances * fg.lgamma(counts + 1)).sum((0, -1))
        return n * self._categorical.entropy() - of_order + ways

"""The categorical distribution over one-hot vectors."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.categorical import Categorical
from foregrad.distributions.distribution import Distribution
from foregrad.nn.functional import one_hot

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(Distribution):
    """One-hot vectors, with probabilities (or logits) along the last dimension."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: fg.Tensor | None = None, logits: fg.Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:],
                         validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> OneHotCategorical:
        new = self._get_checked_instance(OneHotCategorical, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        super(OneHotCategorical, new).__init__(Size(batch_shape), self.event_shape,
                                               validate_args=False)
        new._validate_args = self._validate_args
        return new

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

    @property
    def mean(self) -> fg.Tensor:
        return self._categorical.probs

    @property
    def mode(self) -> fg.Tensor:
        return one_hot(self.probs.argmax(-1), self.event_shape[0]).to(self.probs.dtype)

    @property
    def variance(self) -> fg.Tensor:
        return self._categorical.probs * (1 - self._categorical.probs)

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        drawn = self._categorical.sample(Size(sample_shape))
        return one_hot(drawn, self.event_shape[0]).to(self.probs.dtype)

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> fg.Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> fg.Tensor:
        n, batch = self.event_shape[0], tuple(self.batch_shape)
        values = fg.eye(n, dtype=self._param.dtype).reshape((n,) + (1,) * len(batch) + (n,))
        return values.expand((n,) + batch + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same with samples whose gradient is that of the probabilities (Bengio et al., 2013)."""

    has_rsample = True

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        samples, probs = self.sample(sample_shape), self._categorical.probs
        return samples + (probs - probs.detach())

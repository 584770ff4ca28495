"""Mixtures of components of one family."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.categorical import Categorical
from foregrad.distributions.distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture: a categorical distribution chooses along the last batch dimension of another."""

    arg_constraints: dict[str, constraints.Constraint] = {}
    has_rsample = False

    def __init__(self, mixture_distribution: Categorical, component_distribution: Distribution,
                 validate_args: bool | None = None) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of "
                             "foregrad.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of "
                             "foregrad.distributions.Distribution")
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        weights = tuple(mixture_distribution.batch_shape)
        batch = tuple(component_distribution.batch_shape)[:-1]
        for one, other in zip(reversed(weights), reversed(batch)):
            if one != 1 and other != 1 and one != other:
                raise ValueError(f"`mixture_distribution.batch_shape` ({weights}) is not "
                                 f"compatible with `component_distribution.batch_shape`({batch})")
        count = mixture_distribution.logits.shape[-1]
        components = component_distribution.batch_shape[-1]
        if count != components:
            raise ValueError(f"`mixture_distribution component` ({count}) does not equal "
                             f"`component_distribution.batch_shape[-1]` ({components})")
        self._num_component = components
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(Size(batch), event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> MixtureSameFamily:
        batch = tuple(batch_shape)
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new._component_distribution = self._component_distribution.expand(
            batch + (self._num_component,))
        new._mixture_distribution = self._mixture_distribution.expand(batch)
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims
        super(MixtureSameFamily, new).__init__(Size(batch), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> constraints.Constraint:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution that chooses a component."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components, along the last batch dimension."""
        return self._component_distribution

    def _weights(self) -> fg.Tensor:
        return self._pad_mixture_dimensions(self.mixture_distribution.probs)

    @property
    def mean(self) -> fg.Tensor:
        return (self._weights() * self.component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> fg.Tensor:
        """The mean of the variances, and the variance of the means."""
        weights, axis = self._weights(), -1 - self._event_ndims
        inside = (weights * self.component_distribution.variance).sum(axis)
        far = self.component_distribution.mean - self._pad(self.mean)
        return inside + (weights * far.pow(2)).sum(axis)

    def cdf(self, x: fg.Tensor) -> fg.Tensor:
        parts = self.component_distribution.cdf(self._pad(x))
        return (parts * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, x: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(x)
        parts = self.component_distribution.log_prob(self._pad(x))
        weights = fg.log_softmax(self.mixture_distribution.logits, -1)
        return fg.logsumexp(parts + weights, -1)

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        with fg.no_grad():
            axis = len(tuple(sample_shape)) + len(self.batch_shape)
            chosen = self.mixture_distribution.sample(sample_shape)
            values = self.component_distribution.sample(sample_shape)
            events = tuple(self.event_shape)
            index = chosen.reshape(tuple(chosen.shape) + (1,) * (len(events) + 1))
            places = tuple(values.shape[:axis]) + (1,) + events
            return fg.gather(values, axis, index.expand(places)).squeeze(axis)

    def _pad(self, x: fg.Tensor) -> fg.Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: fg.Tensor) -> fg.Tensor:
        return x.reshape(tuple(x.shape) + (1,) * self._event_ndims)

    def __repr__(self) -> str:
        inside = f"\n  {self.mixture_distribution},\n  {self.component_distribution}"
        return f"MixtureSameFamily({inside})"

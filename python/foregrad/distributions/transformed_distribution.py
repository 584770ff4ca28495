"""Distributions of transformed values."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.independent import Independent
from foregrad.distributions.transforms import ComposeTransform, Transform
from foregrad.distributions.utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of f(x) for x of a base distribution and one transform or several."""

    arg_constraints: dict[str, constraints.Constraint] = {}

    def __init__(self, base_distribution: Distribution, transforms: Transform | list[Transform],
                 validate_args: bool | None = None) -> None:
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif isinstance(transforms, list):
            if not all(isinstance(one, Transform) for one in transforms):
                raise ValueError("transforms must be a Transform or a list of Transforms")
            self.transforms = transforms
        else:
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        self._set_base(base_distribution)
        events = self._event_dims()
        shape = tuple(self._forward_shape())
        cut = len(shape) - events
        super().__init__(Size(shape[:cut]), Size(shape[cut:]), validate_args=validate_args)

    def _set_base(self, base: Distribution) -> None:
        """Broadcasts the base to the shape of values, and takes batch dimensions into events."""
        base_shape = tuple(base.batch_shape + base.event_shape)
        base_events = len(base.event_shape)
        transform = ComposeTransform(self.transforms)
        if len(base_shape) < transform.domain.event_dim:
            raise ValueError("base_distribution needs to have shape with size at least "
                             f"{transform.domain.event_dim}, but got {Size(base_shape)}.")
        wide = tuple(transform.inverse_shape(transform.forward_shape(base_shape)))
        if base_shape != wide:
            base = base.expand(wide[:len(wide) - base_events])
        more = transform.domain.event_dim - base_events
        self.base_dist = Independent(base, more) if more > 0 else base

    def _forward_shape(self) -> Any:
        base = self.base_dist
        return ComposeTransform(self.transforms).forward_shape(base.batch_shape + base.event_shape)

    def _event_dims(self) -> int:
        transform = ComposeTransform(self.transforms)
        change = transform.codomain.event_dim - transform.domain.event_dim
        return max(len(self.base_dist.event_shape) + change, transform.codomain.event_dim)

    def expand(self, batch_shape: Any, _instance: Any = None) -> TransformedDistribution:
        new = self._get_checked_instance(TransformedDistribution, _instance)
        new.transforms = self.transforms
        shape = Size(tuple(batch_shape) + tuple(self.event_shape))
        for one in reversed(self.transforms):
            shape = one.inverse_shape(shape)
        base_batch = tuple(shape)[:len(shape) - len(self.base_dist.event_shape)]
        new.base_dist = self.base_dist.expand(base_batch)
        super(TransformedDistribution, new).__init__(Size(batch_shape), self.event_shape,
                                                     validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> constraints.Constraint:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    @property
    def has_rsample(self) -> bool:
        return self.base_dist.has_rsample

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        with fg.no_grad():
            x = self.base_dist.sample(sample_shape)
            for transform in self.transforms:
                x = transform(x)
            return x

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        x = self.base_dist.rsample(sample_shape)
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        """The density of the base at the inverse, less the logarithm of the change of volume."""
        if self._validate_args:
            self._validate_sample(value)
        events, log_prob, y = len(self.event_shape), 0.0, value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            events += transform.domain.event_dim - transform.codomain.event_dim
            change = transform.log_abs_det_jacobian(x, y)
            log_prob = log_prob - _sum_rightmost(change, events - transform.domain.event_dim)
            y = x
        of_base = self.base_dist.log_prob(y)
        return log_prob + _sum_rightmost(of_base, events - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value: fg.Tensor) -> fg.Tensor:
        """1 - value where the transforms fall."""
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: fg.Tensor) -> fg.Tensor:
        for transform in self.transforms[::-1]:
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: fg.Tensor) -> fg.Tensor:
        value = self.base_dist.icdf(self._monotonize_cdf(value))
        for transform in self.transforms:
            value = transform(value)
        return value

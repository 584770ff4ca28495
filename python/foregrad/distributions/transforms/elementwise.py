"""Transforms that act on each element."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

import foregrad as fg
from foregrad.distributions import constraints
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.transforms.base import Transform
from foregrad.distributions.utils import _broadcast_shapes
from foregrad.nn.functional import softplus


class ExpTransform(Transform):
    """y = exp(x)."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExpTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        return x.exp()

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        return x


class PowerTransform(Transform):
    """y = x ** exponent."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: fg.Tensor, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.exponent = fg.as_tensor(exponent)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return PowerTransform(self.exponent, cache_size=cache_size)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PowerTransform):
            return False
        return bool(self.exponent.eq(other.exponent).all().item())

    __hash__ = Transform.__hash__

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return _broadcast_shapes(shape, self.exponent.shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _broadcast_shapes(shape, self.exponent.shape)


def _clipped_sigmoid(x: fg.Tensor) -> fg.Tensor:
    limits = fg.finfo(x.dtype)
    return fg.clamp(fg.sigmoid(x), limits.tiny, 1.0 - limits.eps)


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x)), kept away from 0 and 1."""

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SigmoidTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        return _clipped_sigmoid(x)

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        limits = fg.finfo(y.dtype)
        y = y.clamp(limits.tiny, 1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Transform):
    """y = log(1 + exp(x))."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftplusTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        return softplus(x)

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        return -softplus(-x)


class TanhTransform(Transform):
    """y = tanh(x)."""

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TanhTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        return x.tanh()

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        return fg.atanh(y)

    def log_abs_det_jacobian(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = |x|, whose inverse is the positive branch."""

    domain = constraints.real
    codomain = constraints.positive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        return x.abs()

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        return y


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(a, Number) and isinstance(b, Number):
        return a == b
    equal = a == b
    return bool(equal.all().item()) if isinstance(equal, fg.Tensor) else bool(equal)


class AffineTransform(Transform):
    """y = loc + scale * x."""

    bijective = True

    def __init__(self, loc: fg.Tensor | float, scale: fg.Tensor | float, event_dim: int = 0,
                 cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> constraints.Constraint:
        if self.event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self.event_dim)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> constraints.Constraint:
        if self.event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self.event_dim)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        return _is_same(self.loc, other.loc) and _is_same(self.scale, other.scale)

    __hash__ = Transform.__hash__

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Number):
            return 1 if self.scale > 0 else -1 if self.scale < 0 else 0
        return self.scale.sign()

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        shape = tuple(x.shape)
        if isinstance(self.scale, Number):
            result = fg.full_like(x, math.log(abs(self.scale)))
        else:
            result = fg.abs(self.scale).log()
        if self.event_dim:
            kept = tuple(result.shape[:result.dim() - self.event_dim])
            result = result.reshape(kept + (-1,)).sum(-1)
            shape = shape[:-self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape: Any) -> Any:
        return _broadcast_shapes(shape, getattr(self.loc, "shape", ()),
                                 getattr(self.scale, "shape", ()))

    def inverse_shape(self, shape: Any) -> Any:
        return self.forward_shape(shape)


class CumulativeDistributionTransform(Transform):
    """y = cdf(x) of a distribution, whose inverse is icdf."""

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> constraints.Constraint | None:
        return self.distribution.support

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)

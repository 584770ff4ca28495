"""Transforms from unconstrained numbers to the sets that constraints describe.

`biject_to(constraint)` is a bijection, as sampling needs one; `transform_to(constraint)` need not
be, as optimisation does without. Both come from the constraint alone and may be extended:

    @transform_to.register(my_constraint)
    def to_my_constraint(constraint):
        return MyTransform(constraint.parameter)
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

from foregrad.distributions import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Functions that make the transform of a constraint, by its class."""

    def __init__(self) -> None:
        self._registry: dict[type, Callable[..., Any]] = {}
        super().__init__()

    def register(self, constraint: Any,
                 factory: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """Registers the function for a constraint, or for a class of them; also a decorator."""
        if factory is None:
            return lambda made: self.register(constraint, made)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError("Expected constraint to be either a Constraint subclass or instance, "
                            f"but got {constraint}")
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: constraints.Constraint) -> transforms.Transform:
        """The transform to a constraint."""
        try:
            factory = self._registry[type(constraint)]
        except KeyError:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints") from None
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _for_both(*classes: Any) -> Callable[..., Any]:
    def register(factory: Callable[..., Any]) -> Callable[..., Any]:
        for one in classes:
            biject_to.register(one, factory)
            transform_to.register(one, factory)
        return factory
    return register


@_for_both(constraints.real)
def _to_real(constraint):
    return transforms.identity_transform


def _registered_independent(registry: ConstraintRegistry) -> None:
    @registry.register(constraints.independent)
    def _to_independent(constraint):
        base = registry(constraint.base_constraint)
        return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)

    @registry.register(constraints.cat)
    def _to_cat(constraint):
        parts = [registry(one) for one in constraint.cseq]
        return transforms.CatTransform(parts, constraint.dim, constraint.lengths)

    @registry.register(constraints.stack)
    def _to_stack(constraint):
        return transforms.StackTransform([registry(one) for one in constraint.cseq],
                                         constraint.dim)


_registered_independent(biject_to)
_registered_independent(transform_to)


@_for_both(constraints.positive, constraints.nonnegative)
def _to_positive(constraint):
    return _to_lower_bound(constraint)


@_for_both(constraints.greater_than, constraints.greater_than_eq)
def _to_lower_bound(constraint):
    to_positive = transforms.ExpTransform()
    if isinstance(constraint.lower_bound, Number) and constraint.lower_bound == 0:
        return to_positive
    return transforms.ComposeTransform(
        [to_positive, transforms.AffineTransform(constraint.lower_bound, 1)])


@_for_both(constraints.less_than)
def _to_upper_bound(constraint):
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)])


@_for_both(constraints.interval, constraints.half_open_interval)
def _to_interval(constraint):
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, Number) and isinstance(high, Number) and low == 0 and high == 1:
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform(
        [transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


@biject_to.register(constraints.simplex)
def _biject_to_simplex(constraint):
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _transform_to_simplex(constraint):
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def _to_lower_cholesky(constraint):
    return transforms.LowerCholeskyTransform()


@transform_to.register(constraints.positive_definite)
@transform_to.register(constraints.positive_semidefinite)
def _to_positive_definite(constraint):
    return transforms.PositiveDefiniteTransform()


@_for_both(constraints.corr_cholesky)
def _to_corr_cholesky(constraint):
    return transforms.CorrCholeskyTransform()

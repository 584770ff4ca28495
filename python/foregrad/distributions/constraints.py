"""Sets of values: the domains of parameters, the supports of distributions.

`check(value)` tells for each event of a batch whether it is in the set; `event_dim` is the number
of dimensions at the end that make one event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import foregrad as fg
from foregrad import _C

__all__ = ["Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
           "greater_than", "greater_than_eq", "independent", "integer_interval", "interval",
           "half_open_interval", "is_dependent", "less_than", "lower_cholesky",
           "lower_triangular", "MixtureSameFamilyConstraint", "multinomial", "nonnegative",
           "nonnegative_integer", "one_hot", "positive", "positive_semidefinite",
           "positive_definite", "positive_integer", "real", "real_vector", "simplex", "square",
           "stack", "symmetric", "unit_interval"]


class Constraint:
    """A set of values."""

    is_discrete = False
    event_dim = 0

    def check(self, value: fg.Tensor) -> fg.Tensor:
        """Whether each event is in the set."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.__class__.__name__.lstrip("_") + "()"


class _Dependent(Constraint):
    """A set that depends on other values; those decide its properties unless they are given."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented):
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> int:
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> _Dependent:
        """The same with properties that are known."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim)

    def check(self, x: fg.Tensor) -> fg.Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A property of a class whose value is a constraint that depends on the object."""

    def __init__(self, fn: Callable[..., Any] | None = None, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> None:
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:
        """The property of a function: a decorator with arguments."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Any) -> bool:
    """Whether the constraint depends on other values, so that it cannot be checked."""
    return isinstance(constraint, _Dependent)


def _all_of(result: fg.Tensor, dims: int) -> fg.Tensor:
    """Whether all holds over the last dimensions."""
    if result.dim() < dims:
        raise ValueError(f"Expected value.dim() >= {dims} but got {result.dim()}")
    for _ in range(dims):
        result = result.all(-1)
    return result


class _IndependentConstraint(Constraint):
    """Events of a set of which each element, over some more dimensions, is in another one."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError("base_constraint must be a Constraint, got "
                                 f"{type(base_constraint).__name__}")
        if not isinstance(reinterpreted_batch_ndims, int) or reinterpreted_batch_ndims < 0:
            raise AssertionError("reinterpreted_batch_ndims must be an int >= 0, got "
                                 f"{reinterpreted_batch_ndims}")
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: fg.Tensor) -> fg.Tensor:
        result = self.base_constraint.check(value)
        if result.dim() < self.reinterpreted_batch_ndims:
            expected = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {expected} but got {value.dim()}")
        return _all_of(result, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return (f"{self.__class__.__name__[1:]}({self.base_constraint!r}, "
                f"{self.reinterpreted_batch_ndims})")


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: a value is in that of every component."""

    def __init__(self, base_constraint: Constraint) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"Expected base_constraint to be an instance of Constraint, but "
                                 f"got {type(base_constraint).__name__}")
        self.base_constraint = base_constraint
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim

    def check(self, value: fg.Tensor) -> fg.Tensor:
        """Whether the value is in the support of all components, which is one dimension more."""
        events = self.event_dim
        result = self.base_constraint.check(value.unsqueeze(-1 - events))
        if value.dim() < events:
            raise ValueError(f"Expected value.dim() >= {events} but got {value.dim()}")
        return result.all(-1)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_constraint!r})"


class _Boolean(Constraint):
    """0 or 1."""

    is_discrete = True

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """Vectors with one 1 among zeros."""

    is_discrete = True
    event_dim = 1

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Bounded(Constraint):
    """A set with one bound or two."""

    _bounds: tuple[str, ...] = ()

    def __init__(self, *bounds: Any) -> None:
        for name, bound in zip(self._bounds, bounds, strict=True):
            setattr(self, name, bound)
        super().__init__()

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self._bounds)
        return f"{self.__class__.__name__.lstrip('_')}({shown})"


def _is_whole(value: fg.Tensor) -> fg.Tensor:
    return value % 1 == 0


class _IntegerInterval(_Bounded):
    """Integers from one bound to the other, both included."""

    is_discrete = True
    _bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound, upper_bound)

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return _is_whole(value) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_Bounded):
    """Integers up to a bound, included."""

    is_discrete = True
    _bounds = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound)

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return _is_whole(value) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Bounded):
    """Integers from a bound on, included."""

    is_discrete = True
    _bounds = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound)

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return _is_whole(value) & (value >= self.lower_bound)


class _Real(Constraint):
    """All numbers but NaN."""

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return value == value


class _GreaterThan(_Bounded):
    """Numbers above a bound."""

    _bounds = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound)

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return self.lower_bound < value


class _GreaterThanEq(_Bounded):
    """Numbers from a bound on, included."""

    _bounds = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound)

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return self.lower_bound <= value


class _LessThan(_Bounded):
    """Numbers below a bound."""

    _bounds = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound)

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return value < self.upper_bound


class _Interval(_Bounded):
    """Numbers between two bounds, both included."""

    _bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound, upper_bound)

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    """Numbers between two bounds without the upper one."""

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    """Vectors of numbers that are not negative and sum to 1."""

    event_dim = 1

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of counts, of which there are `upper_bound` in all."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, x: fg.Tensor) -> fg.Tensor:
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    """Square matrices with zeros above the diagonal."""

    event_dim = 2

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return _all_of(value.tril() == value, 2)


class _LowerCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal."""

    event_dim = 2

    def check(self, value: fg.Tensor) -> fg.Tensor:
        return lower_triangular.check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal and rows of length 1."""

    event_dim = 2

    def check(self, value: fg.Tensor) -> fg.Tensor:
        tolerance = fg.finfo(value.dtype).eps * value.shape[-1] * 10
        length = (value * value).sum(-1)
        return ((length - 1).abs() <= tolerance).all(-1) & lower_cholesky.check(value)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: fg.Tensor) -> fg.Tensor:
        square = len(value.shape) >= 2 and value.shape[-2] == value.shape[-1]
        return fg.full(tuple(value.shape[:-2]), square, dtype=fg.bool)


class _Symmetric(_Square):
    """Matrices that equal their transpose."""

    def check(self, value: fg.Tensor) -> fg.Tensor:
        square = len(value.shape) >= 2 and value.shape[-2] == value.shape[-1]
        if not square:
            return super().check(value)
        return _all_of(fg.isclose(value, value.mT, atol=1e-6), 2)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without a negative eigenvalue."""

    def check(self, value: fg.Tensor) -> fg.Tensor:
        symmetric = super().check(value)
        if value.shape[-2:].numel() == 0 or value.shape[-2] != value.shape[-1]:
            return symmetric
        values, _ = _C._functions.linalg_eigh(value)
        return symmetric & (values >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices whose eigenvalues are positive."""

    def check(self, value: fg.Tensor) -> fg.Tensor:
        symmetric = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return symmetric
        _, info = _C._functions.linalg_cholesky_ex(value)
        return symmetric & (info == 0)


class _Joined(Constraint):
    """Constraints of parts along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int) -> None:
        for one in cseq:
            if not isinstance(one, Constraint):
                raise AssertionError("All elements of cseq must be Constraint instances, got "
                                     f"{type(one).__name__}")
        self.cseq = list(cseq)
        self.dim = dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return any(one.is_discrete for one in self.cseq)

    def _check_dim(self, value: fg.Tensor) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} "
                                 "dimensions")


class _Cat(_Joined):
    """Tensors joined along a dimension, each part in a set of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0,
                 lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths must have the same size as cseq, got "
                                 f"{len(self.lengths)} and {len(self.cseq)}")

    @property
    def event_dim(self) -> int:
        return max(one.event_dim for one in self.cseq)

    def check(self, value: fg.Tensor) -> fg.Tensor:
        self._check_dim(value)
        parts, start = [], 0
        for one, length in zip(self.cseq, self.lengths):
            parts.append(one.check(value.narrow(self.dim, start, length)))
            start += length
        return fg.cat(parts, self.dim)


class _Stack(_Joined):
    """Tensors stacked along a dimension, each in a set of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        super().__init__(cseq, dim)

    @property
    def event_dim(self) -> int:
        events = max(one.event_dim for one in self.cseq)
        return events + 1 if self.dim + events < 0 else events

    def check(self, value: fg.Tensor) -> fg.Tensor:
        self._check_dim(value)
        slices = [value.select(self.dim, i) for i in range(value.shape[self.dim])]
        return fg.stack([one.check(v) for v, one in zip(slices, self.cseq)], self.dim)


# The names of users.
dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack

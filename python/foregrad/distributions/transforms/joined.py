"""Transforms of parts along a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import foregrad as fg
from foregrad.distributions import constraints
from foregrad.distributions.transforms.base import Transform
from foregrad.distributions.utils import _sum_rightmost


def _require_transforms(tseq: Sequence[Transform]) -> None:
    for one in tseq:
        if not isinstance(one, Transform):
            raise AssertionError("All elements of tseq must be Transform instances, got "
                                 f"{type(one).__name__}")


class _JoinedTransform(Transform):
    """Parts along a dimension, each with a transform of its own."""

    transforms: list[Transform]
    dim: int

    @property
    def bijective(self) -> bool:
        return all(one.bijective for one in self.transforms)

    def _require_dim(self, value: fg.Tensor) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} is out of range for a value with {value.dim()} "
                                 "dimensions")


class CatTransform(_JoinedTransform):
    """Consecutive parts of given lengths along a dimension."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0,
                 lengths: Sequence[int] | None = None, cache_size: int = 0) -> None:
        _require_transforms(tseq)
        super().__init__(cache_size=cache_size)
        self.transforms = [one.with_cache(cache_size) if cache_size else one for one in tseq]
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths: got {len(self.lengths)} for {len(self.transforms)} "
                                 "transforms; expected one for each")
        self.dim = dim

    @property
    def event_dim(self) -> int:
        return max(one.event_dim for one in self.transforms)

    @property
    def length(self) -> int:
        """The size of the dimension."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value: fg.Tensor) -> list[fg.Tensor]:
        self._require_dim(value)
        if value.shape[self.dim] != self.length:
            raise AssertionError(f"the size of dimension {self.dim} is {value.shape[self.dim]}; "
                                 f"expected {self.length}")
        return list(fg.split(value, self.lengths, self.dim))

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        return fg.cat([one(v) for one, v in zip(self.transforms, self._parts(x))], self.dim)

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        return fg.cat([one.inv(v) for one, v in zip(self.transforms, self._parts(y))], self.dim)

    def log_abs_det_jacobian(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        terms = []
        for one, before, after in zip(self.transforms, self._parts(x), self._parts(y)):
            term = one.log_abs_det_jacobian(before, after)
            terms.append(_sum_rightmost(term, self.event_dim - one.event_dim))
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        if dim < 0:
            return fg.cat(terms, dim)
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    @constraints.dependent_property
    def domain(self) -> constraints.Constraint:
        return constraints.cat([one.domain for one in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> constraints.Constraint:
        return constraints.cat([one.codomain for one in self.transforms], self.dim, self.lengths)


class StackTransform(_JoinedTransform):
    """The slices along a dimension."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        _require_transforms(tseq)
        super().__init__(cache_size=cache_size)
        self.transforms = [one.with_cache(cache_size) if cache_size else one for one in tseq]
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _slices(self, value: fg.Tensor) -> list[fg.Tensor]:
        self._require_dim(value)
        if value.shape[self.dim] != len(self.transforms):
            raise AssertionError(f"the size of dimension {self.dim} is {value.shape[self.dim]}; "
                                 f"expected {len(self.transforms)}")
        return [value.select(self.dim, i) for i in range(len(self.transforms))]

    def _call(self, x: fg.Tensor) -> fg.Tensor:
        return fg.stack([one(v) for one, v in zip(self.transforms, self._slices(x))], self.dim)

    def _inverse(self, y: fg.Tensor) -> fg.Tensor:
        return fg.stack([one.inv(v) for one, v in zip(self.transforms, self._slices(y))],
                        self.dim)

    def log_abs_det_jacobian(self, x: fg.Tensor, y: fg.Tensor) -> fg.Tensor:
        terms = [one.log_abs_det_jacobian(before, after) for one, before, after
                 in zip(self.transforms, self._slices(x), self._slices(y))]
        return fg.stack(terms, self.dim)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([one.domain for one in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([one.codomain for one in self.transforms], self.dim)

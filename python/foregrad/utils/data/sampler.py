"""Samplers: the order in which a DataLoader takes samples."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Generic, TypeVar

import foregrad

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Generator, Tensor

__all__ = ["BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler",
           "WeightedRandomSampler"]

_T_co = TypeVar("_T_co", covariant=True)
_CHUNK = 32  # numbers that are drawn at once


class Sampler(Generic[_T_co]):
    """Indices of samples in their order: a subclass has __iter__, and mostly __len__."""

    def __iter__(self) -> Iterator[_T_co]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__, which a sampler needs")


def _is_positive(number):
    return isinstance(number, int) and not isinstance(number, bool) and number > 0


def _check_count(name, number):
    if not _is_positive(number):
        raise ValueError(f"{name} should be a positive integer value, but got {name}={number}")


class SequentialSampler(Sampler[int]):
    """All indices in order."""

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """All indices in random order, or `num_samples` of them, with or without replacement."""

    data_source: Sized
    replacement: bool

    def __init__(self, data_source: Sized, replacement: bool = False,
                 num_samples: int | None = None, generator: Generator | None = None) -> None:
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        if not isinstance(replacement, bool):
            raise TypeError("replacement should be a boolean value, but got "
                            f"replacement={replacement}")
        _check_count("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """The number of indices of one pass; the data source may change its size."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator = self.generator
        if generator is None:
            generator = foregrad.Generator()
            generator.manual_seed(draw_seed())
        size, left = len(self.data_source), self.num_samples
        while left > 0:
            if self.replacement:
                drawn = foregrad.randint(size, (_CHUNK,), generator=generator)
            else:
                drawn = foregrad.randperm(size, generator=generator)
            yield from drawn.tolist()[:left]
            left -= drawn.numel()

    def __len__(self) -> int:
        return self.num_samples


def draw_seed(generator: Generator | None = None) -> int:
    """A seed of the generator, by default that of the process."""
    drawn = foregrad.empty((), dtype=foregrad.int64).random_(generator=generator)
    return int(drawn.item())


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order."""

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        order = foregrad.randperm(len(self.indices), generator=self.generator)
        for i in order.tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with probabilities that the weights give; they need not add up to 1."""

    weights: Tensor
    num_samples: int
    replacement: bool

    def __init__(self, weights: Sequence[float], num_samples: int, replacement: bool = True,
                 generator: Generator | None = None) -> None:
        _check_count("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError("replacement should be a boolean value, but got "
                             f"replacement={replacement}")
        self.weights = foregrad.as_tensor(weights, dtype=foregrad.float64)
        if self.weights.dim() != 1:
            raise ValueError("weights should be a 1d sequence but given weights have shape "
                             f"{tuple(self.weights.shape)}")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = foregrad.multinomial(self.weights, self.num_samples, self.replacement,
                                     generator=self.generator)
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of `batch_size` indices of another sampler."""

    sampler: Sampler[int] | Iterable[int]
    batch_size: int
    drop_last: bool

    def __init__(self, sampler: Sampler[int] | Iterable[int], batch_size: int,
                 drop_last: bool) -> None:
        _check_count("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

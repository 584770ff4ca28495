"""Datasets: samples by index or in a stream, and datasets made of other datasets."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from foregrad._C import Tensor
from foregrad._random import default_generator

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Generator, Tensor

__all__ = ["ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset",
           "TensorDataset", "random_split"]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class Dataset(Generic[_T_co]):
    """Samples by index: a subclass has __getitem__, and mostly __len__.

    A subclass may also have __getitems__, which gets the indices of a whole batch and returns the
    list of their samples.
    """

    def __getitem__(self, index: Any) -> _T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[_T_co]) -> ConcatDataset[_T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T_co], Iterable[_T_co]):
    """Samples in a stream: a subclass has __iter__.

    With several workers each has a copy of the dataset; `get_worker_info()` tells a copy which part
    of the stream is its own.
    """

    if TYPE_CHECKING:
        def __iter__(self) -> Iterator[_T_co]: ...

    def __add__(self, other: Dataset[_T_co]) -> ChainDataset[_T_co]:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Sample i is the tuple of row i of every tensor."""

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(len(one) != len(tensors[0]) for one in tensors):
            raise AssertionError(
                "Size mismatch between tensors: TensorDataset got tensors of "
                f"{', '.join(str(len(one)) for one in tensors)} rows; all need equally many")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple([tensor[index] for tensor in self.tensors])

    def __len__(self) -> int:
        return len(self.tensors[0])


class StackDataset(Dataset[tuple[Any, ...] | dict[str, Any]]):
    """Sample i is the tuple, or the dictionary by keyword, of sample i of every dataset."""

    datasets: tuple[Dataset[Any], ...] | dict[str, Dataset[Any]]

    def __init__(self, *args: Dataset[Any], **kwargs: Dataset[Any]) -> None:
        if args and kwargs:
            raise ValueError("Supported either ``tuple``- (via ``args``) or ``dict``- (via "
                             "``kwargs``) like input/output, but both types are given.")
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = [len(one) for one in self._all()]
        if len(set(lengths)) > 1:
            raise ValueError("Size mismatch between datasets: StackDataset got datasets of "
                             f"{', '.join(map(str, lengths))} samples; all need equally many")
        self._length = lengths[0]

    def _all(self):
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _joined(self, parts):
        """One sample, of the samples of the datasets."""
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, parts))
        return tuple(parts)

    def __getitem__(self, index: Any) -> tuple[Any, ...] | dict[str, Any]:
        return self._joined([dataset[index] for dataset in self._all()])

    def __getitems__(self, indices: list[Any]) -> list[tuple[Any, ...] | dict[str, Any]]:
        columns = [_samples_of(dataset, indices) for dataset in self._all()]
        for column in columns:
            if len(column) != len(indices):
                raise ValueError("Nested dataset's output size mismatch. "
                                 f"Expected {len(indices)}, got {len(column)}")
        return [self._joined(parts) for parts in zip(*columns)]

    def __len__(self) -> int:
        return self._length


def _samples_of(dataset, indices):
    """The samples of a batch, in one call where the dataset can do that."""
    if callable(getattr(dataset, "__getitems__", None)):
        return dataset.__getitems__(indices)
    return [dataset[index] for index in indices]


class ConcatDataset(Dataset[_T_co]):
    """Several datasets, one behind the other."""

    datasets: list[Dataset[_T_co]]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Dataset[_T_co]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(one, IterableDataset) for one in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset; use ChainDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Sequence[Any]) -> list[int]:
        """The ends of all datasets, counted from the begin of the first."""
        return list(itertools.accumulate(len(one) for one in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> _T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length: got "
                                 f"{idx} for {len(self)} samples")
            idx += len(self)
        if idx >= len(self):
            raise IndexError(f"list index out of range: got {idx} for {len(self)} samples")
        place = bisect.bisect_right(self.cumulative_sizes, idx)
        begin = self.cumulative_sizes[place - 1] if place else 0
        return self.datasets[place][idx - begin]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old spelling of cumulative_sizes."""
        warnings.warn("`cummulative_sizes` attribute is renamed to `cumulative_sizes`",
                      FutureWarning, stacklevel=2)
        return self.cumulative_sizes


class ChainDataset(IterableDataset[_T_co]):
    """Several streams, one behind the other."""

    datasets: Iterable[Dataset[_T_co]]

    def __init__(self, datasets: Iterable[Dataset[_T_co]]) -> None:
        self.datasets = datasets

    def _checked(self):
        for one in self.datasets:
            if not isinstance(one, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset, and got a "
                                     f"{type(one).__name__}")
            yield one

    def __iter__(self) -> Iterator[_T_co]:
        for one in self._checked():
            yield from one

    def __len__(self) -> int:
        return sum(len(one) for one in self._checked())


class Subset(Dataset[_T_co]):
    """The samples of a dataset at the given indices."""

    dataset: Dataset[_T_co]
    indices: Sequence[int]

    def __init__(self, dataset: Dataset[_T_co], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: Any) -> _T_co:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[_T_co]:
        return _samples_of(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def _counts(total, fractions):
    """How many samples each fraction gets: rounded down, the rest one by one from the first on."""
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    counts = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(counts)):
        counts[i % len(counts)] += 1
    for i, count in enumerate(counts):
        if count == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty "
                          "dataset.", stacklevel=3)
    return counts


def random_split(dataset: Dataset[_T], lengths: Sequence[int | float],
                 generator: Generator | None = default_generator) -> list[Subset[_T]]:
    """Splits a dataset at random into parts of the given lengths, or of fractions of the whole."""
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _counts(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset! "
                         f"The lengths add up to {sum(lengths)}, and the dataset has "
                         f"{len(dataset)} samples")
    from foregrad import randperm

    indices = randperm(sum(lengths), generator=generator).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, indices[end - length:end]) for end, length in zip(ends, lengths)]

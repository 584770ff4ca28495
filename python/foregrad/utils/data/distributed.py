"""The sampler of one process of several that train together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeVar

import foregrad
from foregrad.utils.data.dataset import Dataset
from foregrad.utils.data.sampler import Sampler

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DistributedSampler"]

_T_co = TypeVar("_T_co", covariant=True)


def _process_group():
    """The module that knows the number of processes; an error without a process group."""
    try:
        from foregrad import distributed
    except ImportError:
        distributed = None
    if distributed is None or not (distributed.is_available() and distributed.is_initialized()):
        raise ValueError("Default process group has not been initialized, please make sure to call "
                         "init_process_group, or give DistributedSampler num_replicas and rank.")
    return distributed


class DistributedSampler(Sampler[_T_co]):
    """The indices of one of `num_replicas` processes; all together they cover the dataset."""

    dataset: Dataset[Any]
    num_replicas: int
    rank: int
    epoch: int
    drop_last: bool
    num_samples: int
    total_size: int
    shuffle: bool
    seed: int

    def __init__(self, dataset: Dataset[Any], num_replicas: int | None = None,
                 rank: int | None = None, shuffle: bool = True, seed: int = 0,
                 drop_last: bool = False) -> None:
        if num_replicas is None:
            num_replicas = _process_group().get_world_size()
        if rank is None:
            rank = _process_group().get_rank()
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval "
                             f"[0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch, self.drop_last, self.shuffle, self.seed = 0, drop_last, shuffle, seed
        count = len(dataset)
        self.num_samples = (count // num_replicas if drop_last
                            else math.ceil(count / num_replicas))
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[_T_co]:
        count = len(self.dataset)
        if self.shuffle:
            generator = foregrad.Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = foregrad.randperm(count, generator=generator).tolist()
        else:
            indices = list(range(count))
        if not self.drop_last and indices:  # the first ones again, so that all get equally many
            indices *= math.ceil(self.total_size / count)
        indices = indices[:self.total_size]
        assert len(indices) == self.total_size, "the dataset changed its length"
        return iter(indices[self.rank::self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Gives every epoch an order of its own; to be called before each."""
        self.epoch = epoch

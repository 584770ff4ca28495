"""Datasets, samplers, and the DataLoader that makes batches of them."""

from foregrad.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from foregrad.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from foregrad.utils.data.distributed import DistributedSampler
from foregrad.utils.data.dataloader import (
    DataLoader,
    _DatasetKind,  # noqa: F401
    default_collate,
    default_convert,
    get_worker_info,
)

__all__ = ["BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset",
           "DistributedSampler", "IterableDataset", "RandomSampler", "Sampler",
           "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset",
           "WeightedRandomSampler", "default_collate", "default_convert", "get_worker_info",
           "random_split"]

_PIPES = ("DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "datapipes",
          "functional_datapipe", "guaranteed_datapipes_determinism", "non_deterministic")


def __getattr__(name):
    if name in _PIPES:
        raise AttributeError(f"foregrad.utils.data has no {name}: pipes of data are not here; "
                             "write an IterableDataset")
    raise AttributeError(f"module 'foregrad.utils.data' has no attribute '{name}'")

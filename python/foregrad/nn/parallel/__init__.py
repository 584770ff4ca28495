"""Modules on several devices: on the cpu alone DataParallel is the module itself."""

from foregrad.nn.parallel.data_parallel import DataParallel, data_parallel
from foregrad.nn.parallel.distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]

"""Models on several devices: here there is one device, the cpu, and one process."""

from foregrad.nn.parallel.data_parallel import DataParallel, data_parallel  # noqa: F401
from foregrad.nn.parallel.distributed import DistributedDataParallel  # noqa: F401

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]

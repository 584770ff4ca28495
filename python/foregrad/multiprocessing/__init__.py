"""Python's multiprocessing, with tensors that processes share: a tensor in a queue or an argument
goes to shared memory, and the other process gets a tensor over the same memory."""

from __future__ import annotations

import multiprocessing as _python
import sys as _sys
from multiprocessing import *  # noqa: F401,F403

from foregrad.multiprocessing import _memory
from foregrad.multiprocessing._memory import (
    get_all_sharing_strategies,
    get_sharing_strategy,
    set_sharing_strategy,
)
from foregrad.multiprocessing._spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = ["ProcessContext", "ProcessException", "ProcessExitedException",
           "ProcessRaisedException", "SpawnContext", "get_all_sharing_strategies",
           "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes"]
__all__ += [name for name in _python.__all__ if name not in __all__]

_memory.install()
# Pools and queues of this module are Python's own: their pickler knows tensors from now on.
_sys.modules[f"{__name__}.pool"] = __import__("multiprocessing.pool").pool
_sys.modules[f"{__name__}.queues"] = __import__("multiprocessing.queues").queues

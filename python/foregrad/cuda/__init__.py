"""CUDA, which is not here: what asks for it gets the truth, what needs it raises one sentence."""

from __future__ import annotations

import contextlib
import warnings
from collections import OrderedDict

from foregrad import _program, _typed
from foregrad._absent import Selected, no_statistics, refusing, refusing_class
from foregrad._device import not_compiled
from foregrad.cuda import amp, nvtx, profiler

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any
    from foregrad import Tensor, device as _device

    _Place = _device | str | int | None

AcceleratorError = _program.AcceleratorError
OutOfMemoryError = _program.OutOfMemoryError
CudaError = type("CudaError", (RuntimeError,), {"__module__": __name__})
DeferredCudaCallError = type("DeferredCudaCallError", (Exception,), {"__module__": __name__})
default_generators: tuple[Any, ...] = ()
has_half: bool = True
has_magma: bool = False

globals().update({name: _typed.make(name, __name__) for name in _typed.DTYPES})
Event = refusing_class("cuda", "Event")
Stream = refusing_class("cuda", "Stream")
ExternalStream = refusing_class("cuda", "ExternalStream")
CUDAGraph = refusing_class("cuda", "CUDAGraph")
MemPool = refusing_class("cuda", "MemPool")
graph = refusing_class("cuda", "graph")

_NEEDS = (
    "can_device_access_peer", "caching_allocator_alloc", "caching_allocator_delete", "clock_rate",
    "cudart", "current_blas_handle", "current_device", "current_stream", "default_stream",
    "device_memory_used", "get_device_capability", "get_device_name", "get_device_properties",
    "get_rng_state", "get_sync_debug_mode", "graph_pool_handle", "init", "initial_seed",
    "ipc_collect", "is_current_stream_capturing", "make_graphed_callables", "mem_get_info",
    "memory_snapshot", "memory_summary", "memory_usage", "power_draw",
    "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_per_process_memory_fraction",
    "set_sync_debug_mode", "synchronize", "temperature", "utilization")
globals().update(refusing("cuda", *_NEEDS))
_lazy_init = refusing("cuda", "_lazy_init")["_lazy_init"]


class device(Selected):
    """A context that selects a GPU: entering it needs one."""


class device_of(device):
    """The same, by a tensor: the cpu's select nothing."""

    def __init__(self, obj: Tensor) -> None:
        super().__init__(-1)


def is_available() -> bool:
    """Whether a GPU can be used: no."""
    return False


def is_initialized() -> bool:
    """Whether CUDA was started: no."""
    return False


def device_count() -> int:
    """The number of GPUs: none."""
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the GPU knows bfloat16: there is none."""
    return False


def is_tf32_supported() -> bool:
    """Whether the GPU knows TF32: there is none."""
    return False


def get_arch_list() -> list[str]:
    """The architectures that the library was compiled for: none."""
    return []


def get_gencode_flags() -> str:
    """The compiler's flags for them."""
    return ""


def manual_seed(seed: int) -> None:
    """Seeds the GPU of a program that gets one; there is none, so it only checks the seed."""
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Seeds all GPUs: there are none."""
    int(seed)


def seed() -> None:
    """Seeds the GPU from the system: there is none."""


def seed_all() -> None:
    """Seeds all GPUs from the system: there are none."""


def get_rng_state_all() -> list[Tensor]:
    """The states of the generators of all GPUs: none."""
    return []


def set_rng_state(new_state: Tensor, device: _Place = "cuda") -> None:
    """Takes a state for a GPU that a program may get later: there is none."""


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Takes the states that get_rng_state_all gave: none."""
    if list(new_states):
        raise not_compiled("cuda.set_rng_state_all", "cuda")


def set_device(device: _Place) -> None:
    """Selects a GPU; a negative number selects nothing."""
    if Selected(device).idx >= 0:
        raise not_compiled("cuda.set_device", "cuda", device)


def empty_cache() -> None:
    """Frees memory of the GPU that nothing uses: there is none."""


def memory_allocated(device: _Place = None) -> int:
    """Bytes of tensors on the GPU: none."""
    return 0


def max_memory_allocated(device: _Place = None) -> int:
    """The most bytes of tensors on the GPU: none."""
    return 0


def memory_reserved(device: _Place = None) -> int:
    """Bytes that were taken from the GPU: none."""
    return 0


def max_memory_reserved(device: _Place = None) -> int:
    """The most bytes that were taken from the GPU: none."""
    return 0


def _renamed(old, new):
    warnings.warn(f"`foregrad.cuda.{old}` has been renamed to `foregrad.cuda.{new}`", FutureWarning,
                  stacklevel=3)


def memory_cached(device: _Place = None) -> int:
    """The old name of memory_reserved."""
    _renamed("memory_cached", "memory_reserved")
    return 0


def max_memory_cached(device: _Place = None) -> int:
    """The old name of max_memory_reserved."""
    _renamed("max_memory_cached", "max_memory_reserved")
    return 0


def reset_max_memory_allocated(device: _Place = None) -> None:
    """The old name of reset_peak_memory_stats."""
    _renamed("reset_max_memory_allocated", "reset_peak_memory_stats")
    raise not_compiled("cuda.reset_max_memory_allocated", "cuda")


def memory_stats(device: _Place = None) -> OrderedDict[str, int]:
    """Statistics of the GPU's memory by name: none."""
    return no_statistics()


def list_gpu_processes(device: _Place = None) -> str:
    """The processes on the GPU, as text."""
    return "there is no GPU"


@contextlib.contextmanager
def stream(stream: Any) -> Iterator[None]:
    """Selects a stream; None selects nothing."""
    if stream is not None:
        raise not_compiled("cuda.stream", "cuda")
    yield


def set_stream(stream: Any) -> None:
    """Selects a stream; None selects nothing."""
    if stream is not None:
        raise not_compiled("cuda.set_stream", "cuda")


class StreamContext:
    """The context of a stream; None selects nothing."""

    def __init__(self, stream: Any) -> None:
        if stream is not None:
            raise not_compiled("cuda.StreamContext", "cuda")

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


from foregrad.cuda import memory, random  # noqa: E402,F401

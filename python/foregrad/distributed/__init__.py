"""Training in several processes, which is not here yet: questions have answers, work is refused."""

from __future__ import annotations

from foregrad._refusing_module import refusals

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["all_gather", "all_reduce", "barrier", "broadcast", "destroy_process_group",
           "get_backend", "get_rank", "get_world_size", "init_process_group", "is_available",
           "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available",
           "is_torchelastic_launched"]

_ADVICE = "training in several processes is not here yet; run one process"


def is_available() -> bool:
    """Whether processes can work together: not yet."""
    return False


def is_initialized() -> bool:
    """Whether a group of processes was made: no."""
    return False


def is_nccl_available() -> bool:
    """Whether NCCL is here: no."""
    return False


def is_gloo_available() -> bool:
    """Whether Gloo is here: no."""
    return False


def is_mpi_available() -> bool:
    """Whether MPI is here: not yet."""
    return False


def is_torchelastic_launched() -> bool:
    """Whether torchrun started the program; its variables cannot be used here."""
    return False


def init_process_group(backend: str | None = None, *args: Any, **options: Any) -> NoReturn:
    """Makes the group of all processes."""
    raise NotImplementedError(f"distributed.init_process_group: {_ADVICE}")


def _refuse(name):
    raise ValueError(f"distributed.{name}: Default process group has not been initialized; "
                     f"{_ADVICE}")


def destroy_process_group(group: Any = None) -> NoReturn:
    """Ends a group."""
    _refuse("destroy_process_group")


def get_rank(group: Any = None) -> NoReturn:
    """The number of this process in its group."""
    _refuse("get_rank")


def get_world_size(group: Any = None) -> NoReturn:
    """The number of processes in the group."""
    _refuse("get_world_size")


def get_backend(group: Any = None) -> NoReturn:
    """The library of a group."""
    _refuse("get_backend")


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> NoReturn:
    """Waits for all processes."""
    _refuse("barrier")


def all_reduce(tensor: Any, op: Any = None, group: Any = None, async_op: bool = False) -> NoReturn:
    """Sums tensors of all processes."""
    _refuse("all_reduce")


def all_gather(tensor_list: Any, tensor: Any, group: Any = None,
               async_op: bool = False) -> NoReturn:
    """Collects tensors of all processes."""
    _refuse("all_gather")


def broadcast(tensor: Any, src: int | None = None, group: Any = None,
              async_op: bool = False) -> NoReturn:
    """Sends a tensor to all processes."""
    _refuse("broadcast")


__getattr__ = refusals("distributed", _ADVICE)

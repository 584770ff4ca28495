"""MTIA, which is not here: what asks for it gets the truth, what needs it raises one sentence."""

from __future__ import annotations

from collections import OrderedDict

from foregrad._absent import Selected, no_statistics, refusing, refusing_class
from foregrad._device import not_compiled

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterable
    from foregrad import Tensor, device as _device

    _Place = _device | str | int | None

Event = refusing_class("mtia", "Event")
Stream = refusing_class("mtia", "Stream")
globals().update(refusing(
    "mtia", "current_device", "current_stream", "get_device_capability", "get_device_name",
    "get_device_properties", "get_rng_state", "init", "initial_seed", "mem_get_info",
    "reset_peak_memory_stats", "synchronize"))


class device(Selected):
    """A context that selects an accelerator: entering it needs one."""

    kind = "mtia"


def is_available() -> bool:
    """Whether the accelerator can be used: no."""
    return False


def is_initialized() -> bool:
    """Whether the accelerator was started: no."""
    return False


def device_count() -> int:
    """The number of accelerators: none."""
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the accelerator knows bfloat16: there is none."""
    return False


def manual_seed(seed: int) -> None:
    """Seeds an accelerator of a program that gets one; there is none, so it checks the seed."""
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Seeds all of them: there are none."""
    int(seed)


def get_rng_state_all() -> list[Tensor]:
    """The states of all their generators: none."""
    return []


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Takes the states that get_rng_state_all gave: none."""
    if list(new_states):
        raise not_compiled("mtia.set_rng_state_all", "mtia")


def set_device(device: _Place) -> None:
    """Selects an accelerator; a negative number selects nothing."""
    if not isinstance(device, int) or device >= 0:
        raise not_compiled("mtia.set_device", "mtia", device)


def empty_cache() -> None:
    """Frees memory that nothing uses: there is none."""


def memory_allocated(device: _Place = None) -> int:
    """Bytes of tensors on the accelerator: none."""
    return 0


def max_memory_allocated(device: _Place = None) -> int:
    """The most bytes of tensors on the accelerator: none."""
    return 0


def memory_reserved(device: _Place = None) -> int:
    """Bytes that were taken from the accelerator: none."""
    return 0


def max_memory_reserved(device: _Place = None) -> int:
    """The most bytes that were taken from the accelerator: none."""
    return 0


def memory_stats(device: _Place = None) -> OrderedDict[str, int]:
    """Statistics of its memory by name: none."""
    return no_statistics()

"""The accelerator, whichever it is: there is none."""

from __future__ import annotations

import warnings

from foregrad._absent import Selected

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any, NoReturn
    from foregrad import device as _device

    _Place = _device | str | int | None

__all__ = ["current_accelerator", "current_device_idx", "current_device_index", "current_stream",
           "device_count", "device_index", "empty_cache", "get_device_capability",
           "get_memory_info", "is_available", "max_memory_allocated", "max_memory_reserved",
           "memory_allocated", "memory_reserved", "memory_stats", "reset_accumulated_memory_stats",
           "reset_peak_memory_stats", "set_device_idx", "set_device_index", "set_stream",
           "synchronize"]


def _refuse(name):
    raise RuntimeError(f"accelerator.{name}: there is no accelerator; the only device is 'cpu'. "
                       "Ask accelerator.is_available() before")


def is_available() -> bool:
    """Whether there is one: no."""
    return False


def device_count() -> int:
    """The number of accelerators: none."""
    return 0


def current_accelerator(check_available: bool = False) -> _device | None:
    """The device of the accelerator: None."""
    return None


class device_index(Selected):
    """A context that selects an accelerator by its number; None selects nothing."""

    def __init__(self, device: int | None) -> None:
        super().__init__(device)

    def __enter__(self) -> None:
        if self.idx >= 0:
            _refuse("device_index")


def set_device_index(device: _Place) -> None:
    """Selects an accelerator; a negative number selects nothing."""
    if not isinstance(device, int) or device >= 0:
        _refuse("set_device_index")


def set_device_idx(device: _Place) -> None:
    """The old name of set_device_index."""
    warnings.warn("Use `set_device_index` instead.", FutureWarning, stacklevel=2)
    set_device_index(device)


def current_device_index() -> NoReturn:
    """The number of the accelerator in use."""
    _refuse("current_device_index")


def current_device_idx() -> NoReturn:
    """The old name of current_device_index."""
    warnings.warn("Use `current_device_index` instead.", FutureWarning, stacklevel=2)
    _refuse("current_device_idx")


def current_stream(device: _Place = None) -> NoReturn:
    """The stream of the accelerator."""
    _refuse("current_stream")


def set_stream(stream: Any) -> NoReturn:
    """Selects a stream."""
    _refuse("set_stream")


def synchronize(device: _Place = None) -> NoReturn:
    """Waits for its work."""
    _refuse("synchronize")


def empty_cache() -> NoReturn:
    """Frees memory that nothing uses."""
    _refuse("empty_cache")


def get_device_capability(device: _Place = None) -> NoReturn:
    """The abilities of an accelerator."""
    _refuse("get_device_capability")


def get_memory_info(device: _Place = None) -> NoReturn:
    """The free and the whole memory."""
    _refuse("get_memory_info")


def memory_allocated(device: _Place = None) -> NoReturn:
    """Bytes of tensors."""
    _refuse("memory_allocated")


def max_memory_allocated(device: _Place = None) -> NoReturn:
    """The most bytes of tensors."""
    _refuse("max_memory_allocated")


def memory_reserved(device: _Place = None) -> NoReturn:
    """Bytes that were taken."""
    _refuse("memory_reserved")


def max_memory_reserved(device: _Place = None) -> NoReturn:
    """The most bytes that were taken."""
    _refuse("max_memory_reserved")


def memory_stats(device: _Place = None) -> NoReturn:
    """Statistics of the memory."""
    _refuse("memory_stats")


def reset_peak_memory_stats(device: _Place = None) -> NoReturn:
    """Forgets the most that was used."""
    _refuse("reset_peak_memory_stats")


def reset_accumulated_memory_stats(device: _Place = None) -> NoReturn:
    """Forgets sums."""
    _refuse("reset_accumulated_memory_stats")

"""The seed and state of random numbers, under the names of PyTorch's module."""

from __future__ import annotations

import contextlib

from foregrad._random import (
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
           "set_rng_state", "thread_safe_generator"]


def thread_safe_generator() -> Any:
    """The generator of a data loader's worker: None outside of one."""
    return None


@contextlib.contextmanager
def fork_rng(devices: Sequence[Any] | None = None, enabled: bool = True,
             _caller: str = "fork_rng", _devices_kw: str = "devices",
             device_type: str | None = "cuda") -> Iterator[None]:
    """A block after which random numbers go on as if it had not been."""
    if not enabled:
        yield
        return
    if devices:
        from foregrad._device import not_compiled

        raise not_compiled("random.fork_rng", device_type or "cuda", list(devices)[0])
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)

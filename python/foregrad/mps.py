"""MPS, which is not here: what asks for it gets the truth, what needs it raises one sentence."""

from __future__ import annotations

from foregrad._absent import refusing, refusing_class

Event = refusing_class("mps", "Event")
globals().update(refusing(
    "mps", "current_allocated_memory", "driver_allocated_memory", "empty_cache", "get_rng_state",
    "recommended_max_memory", "seed", "set_per_process_memory_fraction", "set_rng_state",
    "synchronize", "compile_shader"))


def is_available() -> bool:
    """Whether MPS can be used: no."""
    return False


def device_count() -> int:
    """The number of its devices: none."""
    return 0


def manual_seed(seed: int) -> None:
    """Seeds its generator: there is none, so it only checks the seed."""
    int(seed)

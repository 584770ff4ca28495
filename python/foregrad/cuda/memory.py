"""Questions about the memory of a GPU, under the name of PyTorch's module."""

from foregrad.cuda import (
    empty_cache,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_stats,
    reset_max_memory_allocated,
)

__all__ = ["empty_cache", "max_memory_allocated", "max_memory_cached", "max_memory_reserved",
           "memory_allocated", "memory_cached", "memory_reserved", "memory_stats",
           "reset_max_memory_allocated"]

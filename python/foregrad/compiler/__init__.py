"""Captured functions: compile(), and what it is made of."""

from foregrad.compiler._compile import CaptureError, Compiled, compile, counters  # noqa: F401

from foregrad.compiler._cache import (  # noqa: F401
    cache_key,
    cache_stats,
    fresh_cache_artifacts,
    load_cache_artifacts,
    save_cache_artifacts,
)
from foregrad.compiler._graph import Graph, Node  # noqa: F401
from foregrad.compiler._aot import (  # noqa: F401
    aot_function,
    aot_module,
    aot_module_simplified,
    compiled_function,
    compiled_module,
    default_partition,
    make_boxed_compiler,
    make_boxed_func,
    min_cut_rematerialization_partition,
    nop,
)
from foregrad.compiler._step import SGD, Adam, AdamW, CompiledStep, compile_step  # noqa: F401

__all__ = ["CaptureError", "Compiled", "compile", "counters", "aot_function", "aot_module",
           "aot_module_simplified", "compiled_function", "compiled_module", "default_partition",
           "make_boxed_compiler", "make_boxed_func", "min_cut_rematerialization_partition", "nop",
           "SGD", "Adam", "AdamW", "CompiledStep", "compile_step", "cache_key", "cache_stats",
           "fresh_cache_artifacts", "load_cache_artifacts", "save_cache_artifacts"]

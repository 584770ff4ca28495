"""Captured functions: compile(), compile_step(), their graphs, settings and cache."""

from foregrad._C import CacheError  # noqa: F401
from foregrad.compiler import cache  # noqa: F401
from foregrad.compiler._compile import (  # noqa: F401
    CaptureError,
    Compiled,
    compile,
    counters,
    reset,
)
from foregrad.compiler._config import config  # noqa: F401

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
from foregrad.compiler._step import CompiledStep, compile_step  # noqa: F401
from foregrad.compiler._step_settings import SETTINGS as _SETTINGS

globals().update(_SETTINGS)

__all__ = ["CacheError", "CaptureError", "Compiled", "cache", "compile", "config", "counters",
           "reset", "aot_function", "aot_module",
           "aot_module_simplified", "compiled_function", "compiled_module", "default_partition",
           "make_boxed_compiler", "make_boxed_func", "min_cut_rematerialization_partition", "nop",
           *_SETTINGS, "CompiledStep", "compile_step", "cache_key", "cache_stats",
           "fresh_cache_artifacts", "load_cache_artifacts", "save_cache_artifacts"]

"""Captured functions: compile(), and what it is made of."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

_P = ParamSpec("_P")
_R = TypeVar("_R")

__all__ = ["CaptureError", "Compiled", "compile", "counters", "aot_function", "aot_module",
           "aot_module_simplified", "compiled_function", "compiled_module", "default_partition",
           "make_boxed_compiler", "make_boxed_func", "min_cut_rematerialization_partition", "nop"]

class CaptureError(RuntimeError): ...

class Counters:
    captured: int
    calls: int
    eager: int
    reasons: dict[str, int]

counters: Counters

class Compiled:
    function: Callable[..., Any]
    refused: str | None
    @property
    def versions(self) -> list[Any]: ...

@overload
def compile(model: Callable[_P, _R], *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: Any = None, mode: str | None = None, options: dict[str, Any] | None = None,
            disable: bool = False) -> Callable[_P, _R]: ...
@overload
def compile(model: None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: Any = None, mode: str | None = None, options: dict[str, Any] | None = None,
            disable: bool = False) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...

_Compiler = Callable[[Any, list[Any]], Callable[..., Any]]

def nop(graph: Any, example_inputs: list[Any]) -> Any: ...
def make_boxed_func(function: Callable[..., Any]) -> Callable[[list[Any]], Any]: ...
def make_boxed_compiler(compiler: _Compiler) -> _Compiler: ...

default_partition: Any
min_cut_rematerialization_partition: Any

def aot_function(fn: Callable[..., Any], fw_compiler: _Compiler,
                 bw_compiler: _Compiler | None = None, partition_fn: Any = ...,
                 decompositions: dict[Any, Any] | None = None, num_params_buffers: int = 0,
                 keep_inference_input_mutations: bool = False,
                 inference_compiler: _Compiler | None = None, *, dynamic: bool = False,
                 enable_log: bool = True, disable_functionalization: bool = False) -> Any: ...
def aot_module(mod: Any, *args: Any, **kwargs: Any) -> Any: ...
def aot_module_simplified(mod: Any, args: Any, fw_compiler: _Compiler,
                          bw_compiler: _Compiler | None = None, partition_fn: Any = ...,
                          **kwargs: Any) -> Any: ...

compiled_function = aot_function
compiled_module = aot_module

"""Captured functions: compile(), and what it is made of."""
# Written by hand: compiled functions keep the parameters of what they compile (ParamSpec), and settings
# and counters are attributes that are made at run time.

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ContextDecorator
from os import PathLike
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from foregrad import Tensor
from foregrad.compiler import cache as cache
from foregrad.compiler._step_settings import *
from foregrad.compiler._step_settings import Settings

_P = ParamSpec("_P")
_R = TypeVar("_R")

class CaptureError(RuntimeError): ...
class CacheError(RuntimeError): ...

class Config:
    cache: bool | str
    cache_dir: str
    cache_size: int | str
    cache_tag: str
    cache_strict: bool
    cache_wait: float
    cache_remote: str
    cache_remote_timeout: float
    cache_key: str
    max_versions: int
    def patch(self, name: str | dict[str, Any] | None = None, value: Any = None, /,
              **changes: Any) -> ContextDecorator: ...

config: Config

def reset() -> None: ...

class Counters:
    captured: int
    calls: int
    eager: int
    reasons: dict[str, int]
    interpreted: int
    seconds: float

counters: Counters

class _Explained:
    @overload
    def explain(self, path: None = None) -> str: ...
    @overload
    def explain(self, path: str | PathLike[str]) -> None: ...
    def graphs(self) -> dict[str, Any]: ...
    def cache_key(self, *args: Any, **kwargs: Any) -> str: ...

class Compiled(_Explained):
    function: Callable[..., Any]
    @property
    def refused(self) -> str | None: ...
    @property
    def versions(self) -> list[Any]: ...

class _CompiledFunction(_Explained, Generic[_P, _R]):
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...

@overload
def compile(model: Callable[_P, _R], *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: Any = None, mode: str | None = None, options: dict[str, Any] | None = None,
            disable: bool = False) -> _CompiledFunction[_P, _R]: ...
@overload
def compile(model: None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: Any = None, mode: str | None = None, options: dict[str, Any] | None = None,
            disable: bool = False) -> Callable[[Callable[_P, _R]], _CompiledFunction[_P, _R]]: ...

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

class _HasParameters(Protocol):
    def parameters(self) -> Iterable[Tensor]: ...

class CompiledStep(_Explained):
    lr: float
    clip_norm: float | None
    clip_value: float | None
    error_if_nonfinite: bool
    grad_norm: Tensor | None
    param_groups: list[dict[str, Any]]
    @property
    def state(self) -> dict[Tensor, dict[str, Tensor]]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state_dict: dict[str, Any]) -> None: ...

def compile_step(loss_fn: Callable[..., Any],
                 params: Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Mapping[str, Tensor]
                 | Iterable[dict[str, Any]] | _HasParameters,
                 optimizer: Settings, *, clip_norm: float | None = None,
                 clip_value: float | None = None, error_if_nonfinite: bool = False,
                 fullgraph: bool = False, backend: Any = None,
                 disable: bool = False) -> CompiledStep: ...

def cache_key(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str: ...
def cache_stats() -> dict[str, Any]: ...
def save_cache_artifacts() -> tuple[bytes, list[str]] | None: ...
def load_cache_artifacts(serialized_artifacts: bytes) -> list[str]: ...
def fresh_cache_artifacts() -> AbstractContextManager[None]: ...

"""TorchScript's names. There is no TorchScript: script and trace give back what they get, which
then runs as Python, and say so once. foregrad.compile makes it fast."""

from __future__ import annotations

import builtins
import contextlib
import typing
import warnings
from typing import Final

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn, TypeVar

    _T = TypeVar("_T")

__all__ = ["Attribute", "Error", "Final", "Future", "ScriptFunction", "ScriptModule",
           "ScriptWarning", "TracerWarning", "annotate", "export", "fork", "freeze", "fuser",
           "ignore", "interface", "is_scripting", "is_tracing", "isinstance", "load",
           "optimize_for_inference", "optimized_execution", "save", "script", "script_if_tracing",
           "script_method", "set_fusion_strategy", "trace", "trace_module", "unused", "wait"]

_said = False


class Error(Exception):
    """An error of TorchScript: never raised here, but named in programs."""


class ScriptWarning(Warning):
    """A warning of TorchScript."""


class TracerWarning(Warning):
    """A warning of tracing: never given here, but filtered by programs."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Filters nothing, as there are none."""


class ScriptFunction:
    """The type of scripted functions, of which there are none: for isinstance()."""


class _ScriptModule(type):
    def __instancecheck__(cls, instance):
        return False

    def __call__(cls, *args, **kwargs):
        raise NotImplementedError("jit.ScriptModule: TorchScript does not exist here; derive from "
                                  "nn.Module, and use foregrad.compile")


class ScriptModule(metaclass=_ScriptModule):
    """The type of scripted modules, of which there are none: for isinstance()."""


class Attribute(typing.NamedTuple):
    """A value with the type that TorchScript would give it."""

    value: Any
    type: Any


def _say(name):
    """Warns once in a program."""
    global _said
    if not _said:
        _said = True
        warnings.warn(f"jit.{name}: TorchScript does not exist here, so that the code runs as "
                      "Python; use foregrad.compile to make it fast", UserWarning, stacklevel=3)


def script(obj: _T, optimize: None = None, _frames_up: int = 0, _rcb: Any = None,
           example_inputs: Any = None) -> _T:
    """The object itself, which runs as Python."""
    _say("script")
    return obj


def trace(func: _T, example_inputs: Any = None, optimize: None = None, check_trace: bool = True,
          check_inputs: Any = None, check_tolerance: float = 1e-5, strict: bool = True,
          _force_outplace: bool = False, _module_class: Any = None, _compilation_unit: Any = None,
          example_kwarg_inputs: Any = None, _store_inputs: bool = True) -> _T:
    """The function or module itself: control flow is never frozen."""
    if example_inputs is None and example_kwarg_inputs is None:
        raise RuntimeError("example_kwarg_inputs should be a dict")
    _say("trace")
    return func


def trace_module(mod: _T, inputs: dict[str, Any], optimize: None = None, check_trace: bool = True,
                 check_inputs: Any = None, check_tolerance: float = 1e-5, strict: bool = True,
                 _force_outplace: bool = False, _module_class: Any = None,
                 _compilation_unit: Any = None, example_inputs_is_kwarg: bool = False,
                 _store_inputs: bool = True) -> _T:
    """The module itself."""
    _say("trace_module")
    return mod


def script_method(fn: _T) -> _T:
    """The method itself."""
    return fn


def script_if_tracing(fn: _T) -> _T:
    """The function itself: nothing is traced."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """A decorator that keeps a function in Python, where it is."""
    return drop if callable(drop) else lambda fn: fn


def unused(fn: _T) -> _T:
    """The function itself."""
    return fn


def export(fn: _T) -> _T:
    """The method itself."""
    return fn


def interface(obj: _T) -> _T:
    """The class itself."""
    return obj


def freeze(mod: _T, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True) -> _T:
    """The module itself, which must be in evaluation as in PyTorch."""
    if getattr(mod, "training", False):
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. "
                           "Please call .eval() on your module before freezing.")
    _say("freeze")
    return mod


def optimize_for_inference(mod: _T, other_methods: list[str] | None = None) -> _T:
    """The module itself."""
    _say("optimize_for_inference")
    return mod


def annotate(the_type: Any, the_value: _T) -> _T:
    """The value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether an object is of a type; of containers also what they hold."""
    return _fits(obj, target_type)


_check = builtins.isinstance


def _fits(obj, wanted):
    if _check(wanted, tuple):
        return any(_fits(obj, one) for one in wanted)
    origin, inner = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is None:
        return obj is None if wanted is None else _check(obj, wanted)
    if origin is typing.Union or getattr(origin, "__name__", "") == "UnionType":
        return any(_fits(obj, one) for one in inner)
    if not _check(obj, origin):
        return False
    if origin is dict:
        return all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in obj.items())
    if origin is tuple and (len(inner) < 2 or inner[1] is not Ellipsis):
        return len(obj) == len(inner) and all(map(_fits, obj, inner))
    return all(_fits(one, inner[0]) for one in obj)


def is_scripting() -> bool:
    """Whether the code runs in TorchScript: no."""
    return False


def is_tracing() -> bool:
    """Whether a trace is being made: no."""
    return False


class Future:
    """The result of a call that fork() made."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def done(self) -> bool:
        """Whether the call is finished: yes."""
        return True

    def wait(self) -> Any:
        """The result."""
        return self._value

    value = wait


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future:
    """Calls a function at once."""
    return Future(func(*args, **kwargs))


def wait(future: Future) -> Any:
    """The result of fork()."""
    return future.wait()


@contextlib.contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A context that changes nothing: there is no optimiser of TorchScript."""
    yield


@contextlib.contextmanager
def fuser(name: str) -> Iterator[None]:
    """A context that changes nothing: there is no fuser of TorchScript."""
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3"):
        raise Exception(f"unrecognized fuser option (name: {name})")
    yield


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Takes a strategy of the fuser, which does not exist; returns PyTorch's."""
    return [("STATIC", 2), ("DYNAMIC", 10)]


def save(m: Any, f: Any, _extra_files: dict[str, Any] | None = None) -> NoReturn:
    """Writes a scripted module, which does not exist here."""
    raise NotImplementedError("jit.save: TorchScript does not exist here; save the state_dict with "
                              "foregrad.save")


def load(f: Any, map_location: Any = None, _extra_files: dict[str, Any] | None = None,
         _restore_shapes: bool = False) -> NoReturn:
    """Reads a scripted module, which does not exist here."""
    raise NotImplementedError("jit.load: TorchScript does not exist here; load a state_dict with "
                              "foregrad.load")

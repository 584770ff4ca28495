"""Neural networks: modules, and the functions that they are made of."""

import importlib

from foregrad.nn import functional, parameter  # noqa: F401
from foregrad.nn.parameter import (  # noqa: F401
    Buffer,
    Parameter,
    UninitializedBuffer,
    UninitializedParameter,
)

# Loaded when they are first needed: a program without modules starts faster.
_LATE = ("common_types", "grad", "init", "modules", "parallel", "utils")

_ELSEWHERE = {"DataParallel": "parallel", "factory_kwargs": "_factory"}


def __getattr__(name):
    if name in _LATE:
        return importlib.import_module(f"foregrad.nn.{name}")
    modules = importlib.import_module("foregrad.nn.modules")
    if name == "__all__":
        return [*modules.__all__, *_LATE, *_ELSEWHERE, "Buffer", "Parameter",
                "UninitializedBuffer", "UninitializedParameter", "functional", "parameter"]
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(f"foregrad.nn.{_ELSEWHERE[name]}"), name)
    if name not in modules.__all__:
        raise AttributeError(f"module 'foregrad.nn' has no attribute '{name}'")
    globals().update({each: getattr(modules, each) for each in modules.__all__})
    return globals()[name]


def __dir__():
    return sorted({*globals(), *__getattr__("__all__")})

"""Parametrisations: parameters that are computed from others, anew at every use."""

from __future__ import annotations

import copy
from contextlib import contextmanager

from foregrad import _C
from foregrad.autograd._modes import no_grad
from foregrad.nn.modules.container import ModuleDict
from foregrad.nn.modules.module import Module
from foregrad.nn.parameter import Parameter
from foregrad.nn.utils._parametrization_list import (  # noqa: F401
    ParametrizationList,
    check_like,
    register_parameter_or_buffer,
)

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ParametrizationList", "cached", "is_parametrized", "register_parametrization",
           "remove_parametrizations", "transfer_parametrizations_and_params",
           "type_before_parametrizations"]

Tensor = _C.Tensor
_cache_enabled = 0
_cache = {}


@contextmanager
def cached() -> Iterator[None]:
    """Computes each parametrised tensor once as long as the `with` lasts."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _value_of(module, name):
    parametrizations = module.parametrizations[name]
    # A capture keeps no tensors beyond its end; equal computations in a graph are shared anyway.
    if not _cache_enabled or _C.is_capturing():
        return parametrizations()
    key = (id(module), name)
    if key not in _cache:
        _cache[key] = parametrizations()
    return _cache[key]


# ---- classes of parametrised modules

def _rebuild(kind, names):
    """An empty module of a class with these parametrised tensors, for copies and pickles."""
    module = kind.__new__(kind)
    _inject_class(module)
    for name in names:
        _inject_property(module, name)
    return module


def _names_of(module):
    return tuple(name for name, value in vars(type(module)).items() if isinstance(value, property))


def _reduce(self, protocol=2):
    return _rebuild, (type(self).__bases__[0], _names_of(self)), self.__getstate__()


def _deepcopy(self, memo):
    made = _rebuild(type(self).__bases__[0], _names_of(self))
    memo[id(self)] = made
    made.__dict__.update(copy.deepcopy(self.__getstate__(), memo))
    return made


def _inject_class(module):
    """Gives a module a class of its own, below its old one; properties stand in it."""
    kind = type(module)
    members = {"__reduce_ex__": _reduce, "__module__": kind.__module__}
    if not hasattr(kind, "__deepcopy__"):
        members["__deepcopy__"] = _deepcopy
    object.__setattr__(module, "__class__", type(f"Parametrized{kind.__name__}", (kind,), members))


def _inject_property(module, name):
    def get(self):
        if name in self.__dict__:  # functional_call gives another value
            return self.__dict__[name]
        return _value_of(self, name)

    def put(self, value):
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put, doc=f"The parametrised {name}."))


# ---- for users

def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *,
                             unsafe: bool = False) -> Module:
    """Computes a parameter or buffer from another tensor; several follow one another."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        found = module.parametrizations[tensor_name]
        if not unsafe:
            _check_next(getattr(module, tensor_name), parametrization, tensor_name)
        found.append(parametrization)
        found.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        made = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = made
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a "
                         f"parametrized element with name '{tensor_name}'")
    return module


def _check_next(value, parametrization, name):
    """Checks that one more parametrisation, and its inverse, keep dtype and sizes."""
    with no_grad():
        result = parametrization(value)
        check_like(result, value, f"parametrization of '{name}'", "the current value")
        if hasattr(parametrization, "right_inverse"):
            back = parametrization.right_inverse(result)
            check_like(back, value, f"right_inverse of the parametrization of '{name}'",
                       "the current value")


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module, or one of its tensors, has parametrisations."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: Module, tensor_name: str,
                            leave_parametrized: bool = True) -> Module:
    """Leaves a tensor as it is computed now, or, without leave_parametrized, the original."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with no_grad():
                trained = original.requires_grad
                original.requires_grad_(False).data = getattr(module, tensor_name)
                original.requires_grad_(trained)
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that "
                         "is parametrized in terms of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        object.__setattr__(module, "__class__", type(module).__bases__[0])
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class of a module as it was before it was parametrised."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Module, to_module: Module,
                                         tensor_name: str | None = None) -> Module:
    """Gives a module the parametrisations of another one, and their tensors."""
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        source = from_module.parametrizations[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        for key in source.originals():
            setattr(to_module.parametrizations[name], key, getattr(source, key))
    return to_module

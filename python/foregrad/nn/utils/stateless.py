"""Calls of a module with other tensors in the place of its own."""

from __future__ import annotations

import warnings
from contextlib import contextmanager

from foregrad import _C
from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from typing import Any

__all__ = ["functional_call"]


def functional_call(module: Module, parameters_and_buffers: dict[str, Tensor],
                    args: Any = None, kwargs: dict[str, Any] | None = None, *,
                    tie_weights: bool = True, strict: bool = False) -> Any:
    """Calls a module with these tensors in the place of its parameters and buffers."""
    warnings.warn("`foregrad.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 "
                  "in favor of `func.functional_call`, which is called in the same way.",
                  FutureWarning, stacklevel=2)
    return _functional_call(module, parameters_and_buffers, args, kwargs,
                            tie_weights=tie_weights, strict=strict)


def _functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True,
                     strict=False):
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights,
                               strict=strict):
        return module(*args, **(kwargs or {}))


@contextmanager
def _reparametrize_module(module, parameters_and_buffers, *, tie_weights=False, strict=False,
                          stack_weights=False):
    """The module has the given tensors as long as the `with` lasts.

    A tensor that the module itself replaces meanwhile is put into the dictionary.
    """
    given = dict(parameters_and_buffers)
    for value in given.values():
        if not isinstance(value, _C.Tensor):
            raise TypeError(f"{value!r} is not an instance of foregrad.Tensor")
    tensors = {name: tensor for name, tensor in (
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False))}
    _check_names(module, given, tensors, strict, tie_weights)
    whole = _tied(given, tensors) if tie_weights else given
    places = {name: _Place(module, name) for name in whole}
    try:
        for name, place in places.items():
            place.put(whole[name])
        yield
    finally:
        for name, place in places.items():
            last = place.restore()
            if name in given and last is not None and last is not given[name]:
                parameters_and_buffers[name] = last


def _check_names(module, given, tensors, strict, tie_weights):
    if not strict:
        return
    same = {} if not tie_weights else {id(tensors[name]) for name in given if name in tensors}
    missing = [name for name, tensor in tensors.items()
               if name not in given and id(tensor) not in same]
    unexpected = [name for name in given if name not in tensors]
    lines = [f"\n\t{what} key(s): {', '.join(repr(name) for name in sorted(names))}."
             for what, names in (("Unexpected", unexpected), ("Missing", missing)) if names]
    if lines:
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:"
                           + "".join(lines))


def _tied(given, tensors):
    """The given tensors, also under the names of tensors that are the same in the module."""
    names = {}
    for name, tensor in tensors.items():
        names.setdefault(id(tensor), []).append(name)
    whole = dict(given)
    for group in names.values():
        found = {id(given[name]): given[name] for name in group if name in given}
        if len(found) > 1:
            raise ValueError("functional_call got multiple values for keys "
                             f"{sorted(name for name in group if name in given)}, which are tied. "
                             "Consider using tie_weights=False")
        for value in found.values():
            whole.update(dict.fromkeys(group, value))
    return whole


class _Place:
    """A name in a module, and what stood there."""

    def __init__(self, module, path):
        prefix, _, self.name = path.rpartition(".")
        try:
            self.owner = module.get_submodule(prefix)
        except AttributeError:
            self.owner = module
            self.name = path
        self.members = next((members for members in (self.owner._parameters, self.owner._buffers)
                             if self.name in members), self.owner.__dict__)
        self.before = self.members.get(self.name, _NOTHING)

    def put(self, value):
        self.members[self.name] = value

    def restore(self):
        """Puts back what stood there; returns what stood there last."""
        last = self.members.get(self.name)
        if self.before is _NOTHING:
            self.members.pop(self.name, None)
        else:
            self.members[self.name] = self.before
        return last


_NOTHING = object()

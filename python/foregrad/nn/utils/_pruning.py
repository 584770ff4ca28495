"""BasePruningMethod, several of them after each other, and the checks of amounts."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterator

from foregrad import _C
from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from typing import Any

__all__ = ["BasePruningMethod", "PruningContainer"]

_f = _C._functions


class BasePruningMethod(ABC):
    """The base of all methods: a derived class has compute_mask() and PRUNING_TYPE."""

    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for elements of this importance; zeros of the default mask stay."""

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter times its mask."""
        if getattr(self, "_tensor_name", None) is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(original.dtype) * original

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any,
              importance_scores: Tensor | None = None, **kwargs: Any) -> BasePruningMethod:
        """Registers the method with a module; a parameter may be pruned again and again."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        value = getattr(module, name)
        if importance_scores is not None and importance_scores.shape != value.shape:
            raise AssertionError("importance_scores should have the same shape as parameter "
                                 f"{name} of {module}")
        scores = value if importance_scores is None else importance_scores
        before = _hooks_on(module, name)
        if before:
            key, old = before[0]
            del module._forward_pre_hooks[key]
            container = old if isinstance(old, PruningContainer) else PruningContainer(old)
            container.add_pruning_method(method)
            method, mask = container, getattr(module, name + "_mask").detach().clone()
        else:
            mask = _f.ones_like(value)
            module.register_parameter(name + "_orig", value)
            del module._parameters[name]
        try:
            module.register_buffer(name + "_mask", method.compute_mask(scores.detach(), mask))
            setattr(module, name, method.apply_mask(module))
        except Exception:
            if not before:
                del module._parameters[name + "_orig"]
                module._buffers.pop(name + "_mask", None)
                module.register_parameter(name, value)
            else:
                module.register_forward_pre_hook(old)
            raise
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None,
              importance_scores: Tensor | None = None) -> Tensor:
        """A tensor times the mask that the method computes for it."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(
            scores, _f.ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Module) -> None:
        """Leaves the parameter as it is now, without its mask."""
        if getattr(self, "_tensor_name", None) is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        name, value = self._tensor_name, self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        trained = original.requires_grad
        original.requires_grad_(False).data = value.detach()
        original.requires_grad_(trained)
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _hooks_on(module, name):
    found = [(key, hook) for key, hook in module._forward_pre_hooks.items()
             if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
    if len(found) > 1:
        raise AssertionError("Avoid adding multiple pruning hooks to the same tensor "
                             f"{name} of module {module}. Use a PruningContainer.")
    return found


class PruningContainer(BasePruningMethod):
    """Methods that were applied to one parameter, in order."""

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Adds a method for the same parameter."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError("Can only add pruning methods acting on the parameter named "
                             f"'{self._tensor_name}' to PruningContainer {self}. Found "
                             f"'{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the last method, computed on that which is not pruned yet."""
        method = self._pruning_methods[-1]
        places = _places(method, default_mask)
        mask = default_mask.clone()
        part = method.compute_mask(t[places], default_mask[places])
        mask[places] = part.to(mask.dtype)
        return mask


def _places(method, mask):
    """The elements that a method sees, by its type."""
    kind, rank = method.PRUNING_TYPE, mask.dim()
    if kind == "unstructured":
        return mask == 1
    if kind not in ("structured", "global"):
        raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
    places = [slice(None)] * rank
    if kind == "structured":
        if not -rank <= method.dim < rank:
            raise IndexError(f"Index is out of bounds for tensor with dimensions {rank}")
        dim = method.dim % rank
        places[dim] = mask.sum([d for d in range(rank) if d != dim]) != 0
    return tuple(places)


def _validate_pruning_amount_init(amount):
    """Refuses amounts that are neither a count nor a fraction."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, numbers.Integral)
    if amount < 0 or (not whole and amount > 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a "
                         "non-negative integer")


def _validate_pruning_amount(amount, tensor_size):
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to "
                         f"prune={tensor_size}")


def _validate_structured_pruning(t):
    if t.dim() <= 1:
        raise ValueError("Structured pruning can only be applied to multidimensional tensors. "
                         f"Found tensor of shape {t.shape} with {t.dim()} dims")


def _validate_pruning_dim(t, dim):
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_nparams_toprune(amount, tensor_size):
    """An amount as a count."""
    if isinstance(amount, numbers.Integral):
        return amount
    return round(amount * tensor_size)


def _compute_norm(t, n, dim):
    """The n-norm of every channel along a dimension."""
    others = [d for d in range(t.dim()) if d != dim % t.dim()]
    return t.norm(n, others)

"""Pruning: parameters times masks of zeros and ones, by a hook before every call."""

from __future__ import annotations

from collections.abc import Iterable

from foregrad import _C
from foregrad.nn.modules.module import Module
from foregrad.nn.utils._pruning import (  # noqa: F401
    BasePruningMethod,
    PruningContainer,
    _compute_norm,
    _compute_nparams_toprune,
    _validate_pruning_amount,
    _validate_pruning_amount_init,
    _validate_pruning_dim,
    _validate_structured_pruning,
)
from foregrad.nn.utils.convert_parameters import parameters_to_vector

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from typing import Any

__all__ = ["BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
           "PruningContainer", "RandomStructured", "RandomUnstructured", "custom_from_mask",
           "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
           "random_structured", "random_unstructured", "remove"]

_f = _C._functions


def _copy(mask):
    return mask.detach().contiguous().clone()


class Identity(BasePruningMethod):
    """Prunes nothing; the names are those of a pruned parameter."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> BasePruningMethod:
        """Registers the method with a module."""
        return super().apply(module, name)


class _Amount(BasePruningMethod):
    amount: float

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _count(self, size):
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        return count


class RandomUnstructured(_Amount):
    """Prunes elements at random."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        mask, count = _copy(default_mask), self._count(t.numel())
        if count:
            mask.view(-1)[_f.rand_like(t).view(-1).topk(count)[1]] = 0
        return mask

    @classmethod
    def apply(cls, module: Module, name: str, amount: float) -> BasePruningMethod:
        """Registers the method with a module."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Amount):
    """Prunes the elements that are nearest to zero."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        mask, count = _copy(default_mask), self._count(t.numel())
        if count:
            mask.view(-1)[t.abs().reshape(-1).topk(count, largest=False)[1]] = 0
        return mask

    @classmethod
    def apply(cls, module: Module, name: str, amount: float,
              importance_scores: Tensor | None = None) -> BasePruningMethod:
        """Registers the method with a module."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(_Amount):
    dim: int

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _masked(self, t, default_mask, kept):
        """The mask in which only some channels are kept."""
        mask = _f.zeros_like(t)
        places = [slice(None)] * t.dim()
        places[self.dim] = kept
        mask[tuple(places)] = 1
        return mask * default_mask.to(mask.dtype)


class RandomStructured(_Structured):
    """Prunes channels at random."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        channels = t.shape[self.dim]
        count = self._count(channels)
        return self._masked(t, default_mask, _f.rand((channels,)).argsort()[count:])

    @classmethod
    def apply(cls, module: Module, name: str, amount: float, dim: int = -1) -> BasePruningMethod:
        """Registers the method with a module."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Prunes the channels of the smallest norms."""

    n: float | str

    def __init__(self, amount: float, n: float | str, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        channels = t.shape[self.dim]
        kept = channels - self._count(channels)
        norms = _compute_norm(t.detach(), self.n, self.dim)
        return self._masked(t, default_mask, norms.topk(kept)[1])

    @classmethod
    def apply(cls, module: Module, name: str, amount: float, n: float | str, dim: int,
              importance_scores: Tensor | None = None) -> BasePruningMethod:
        """Registers the method with a module."""
        return super().apply(module, name, amount=amount, n=n, dim=dim,
                             importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask of the caller's."""

    mask: Tensor

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask * self.mask.to(default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> BasePruningMethod:
        """Registers the method with a module."""
        return super().apply(module, name, mask=mask)


def identity(module: Module, name: str) -> Module:
    """Gives a parameter the names of a pruned one, without pruning it."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prunes an amount, a number or a fraction, of the elements at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float,
                    importance_scores: Tensor | None = None) -> Module:
    """Prunes an amount of the elements: those nearest to zero."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prunes an amount of the channels at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Module, name: str, amount: float, n: float | str, dim: int,
                  importance_scores: Tensor | None = None) -> Module:
    """Prunes an amount of the channels: those of the smallest n-norms."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prunes by a mask."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Iterable[tuple[Module, str]],
                        pruning_method: type[BasePruningMethod],
                        importance_scores: dict[tuple[Module, str], Tensor] | None = None,
                        **kwargs: Any) -> None:
    """Prunes elements of several parameters, which are compared as if they were one."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    values = [getattr(module, name) for module, name in parameters]
    masks = [getattr(module, name + "_mask", _f.ones_like(value))
             for (module, name), value in zip(parameters, values)]
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
                        f"Found method {pruning_method} of type {method.PRUNING_TYPE}")
    container.add_pruning_method(method)
    compared = parameters_to_vector([scores.get(place, value).detach().contiguous()
                                     for place, value in zip(parameters, values)])
    whole = container.compute_mask(compared, parameters_to_vector(masks))
    parts = whole.split([value.numel() for value in values])
    for (module, name), value, part in zip(parameters, values, parts):
        custom_from_mask(module, name, part.view_as(value))


def is_pruned(module: Module) -> bool:
    """Whether a parameter of a module, or of one below it, is pruned."""
    return any(isinstance(hook, BasePruningMethod) for each in module.modules()
               for hook in each._forward_pre_hooks.values())


def remove(module: Module, name: str) -> Module:
    """Leaves a parameter pruned as it is, without mask and hook."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can "
                     "be removed")

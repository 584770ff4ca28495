"""The Kullback-Leibler divergence of two distributions: the table, and its dispatch."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import total_ordering
from typing import Any

import foregrad as fg
from foregrad.distributions.distribution import Distribution

__all__ = ["register_kl", "kl_divergence"]

_KL_REGISTRY: dict[tuple[type, type], Callable[..., Any]] = {}
_KL_MEMOIZE: dict[tuple[type, type], Callable[..., Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[..., Any]:
    """Registers a function for the divergence of two classes, as a decorator."""
    for name, one in (("type_p", type_p), ("type_q", type_q)):
        if not (isinstance(one, type) and issubclass(one, Distribution)):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {one}")

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return decorator


@total_ordering
class _Match:
    """Classes in the order of how special they are: a subclass comes before its bases."""

    __slots__ = ["types"]

    def __init__(self, *types: type) -> None:
        self.types = types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Match) and self.types == other.types

    def __hash__(self) -> int:
        return hash(self.types)

    def __le__(self, other: _Match) -> bool:
        for ours, theirs in zip(self.types, other.types):
            if not issubclass(ours, theirs):
                return False
            if ours is not theirs:
                break
        return True


def _dispatch_kl(type_p: type, type_q: type) -> Callable[..., Any]:
    """The most special function whose classes are bases of these; NotImplemented: there is none."""
    matches = [(super_p, super_q) for super_p, super_q in _KL_REGISTRY
               if issubclass(type_p, super_p) and issubclass(type_q, super_q)]
    if not matches:
        return NotImplemented
    left_p, left_q = min(_Match(*one) for one in matches).types
    right_q, right_p = min(_Match(*reversed(one)) for one in matches).types
    left, right = _KL_REGISTRY[left_p, left_q], _KL_REGISTRY[right_p, right_q]
    if left is not right:
        warnings.warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
                      f"register_kl({left_p.__name__}, {right_q.__name__})", RuntimeWarning,
                      stacklevel=3)
    return left


def kl_divergence(p: Distribution, q: Distribution) -> fg.Tensor:
    """KL(p || q): the mean of log p(x) - log q(x) for x of p, for each index of the batch."""
    pair = type(p), type(q)
    function = _KL_MEMOIZE.get(pair)
    if function is None:
        function = _KL_MEMOIZE[pair] = _dispatch_kl(*pair)
    if function is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type "
            f"{q.__class__.__name__}")
    return function(p, q)

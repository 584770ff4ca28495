"""Clipping of gradients."""

from __future__ import annotations

import warnings

from foregrad import _C
from foregrad.autograd._modes import no_grad

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterable
    from foregrad import Tensor

    _Tensors = Tensor | Iterable[Tensor]

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_",
           "clip_grads_with_norm_", "get_total_norm"]

Tensor = _C.Tensor


def _listed(parameters):
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


@no_grad()
def get_total_norm(tensors: _Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: bool | None = None) -> Tensor:
    """The norm of all tensors together, as if they were one vector."""
    tensors = _listed(tensors)
    if not tensors:
        return _C._functions.zeros(())
    norm = _C._functions.linalg_vector_norm
    total = norm(_C._functions.stack([norm(t, norm_type) for t in tensors]), norm_type)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is "
            "non-finite, so it cannot be clipped. To disable this error and scale the gradients by "
            "the non-finite norm anyway, set `error_if_nonfinite=False`")
    return total


@no_grad()
def clip_grads_with_norm_(parameters: _Tensors, max_norm: float, total_norm: Tensor,
                          foreach: bool | None = None) -> None:
    """Scales gradients, given the norm that they have together."""
    scale = ((total_norm + 1e-6).reciprocal() * float(max_norm)).clamp(max=1.0)
    for parameter in _listed(parameters):
        if parameter.grad is not None:
            parameter.grad.mul_(scale)


def clip_grad_norm_(parameters: _Tensors, max_norm: float, norm_type: float = 2.0,
                    error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """Scales gradients so that their norm is at most max_norm; returns the norm before."""
    parameters = _listed(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


@no_grad()
def clip_grad_value_(parameters: _Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Limits every element of the gradients to [-clip_value, clip_value]."""
    for parameter in _listed(parameters):
        if parameter.grad is not None:
            parameter.grad.clamp_(-float(clip_value), float(clip_value))


def clip_grad_norm(parameters: _Tensors, max_norm: float, norm_type: float = 2.0,
                   error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """The name of old programs for clip_grad_norm_."""
    warnings.warn("`foregrad.nn.utils.clip_grad_norm` is now deprecated in favor of "
                  "`foregrad.nn.utils.clip_grad_norm_`.", FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)

"""Gradients against finite differences."""

from __future__ import annotations

from foregrad import _C

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from foregrad import Tensor
    from typing import Any

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """The error of gradcheck: names the wrong gradient, with both Jacobians."""


def _prepare(func, inputs):
    """The tensors that require grad, and the function of those alone."""
    inputs = (inputs,) if isinstance(inputs, _C.Tensor) else tuple(inputs)
    places = [i for i, x in enumerate(inputs) if isinstance(x, _C.Tensor)]

    def call(*tensors):
        arguments = list(inputs)
        for place, tensor in zip(places, tensors):
            arguments[place] = tensor
        outputs = func(*arguments)
        outputs = outputs if isinstance(outputs, (list, tuple)) else (outputs,)
        return tuple(o for o in outputs if isinstance(o, _C.Tensor))

    return call, [inputs[i] for i in places]


def _run(check, raise_exception):
    try:
        return check()
    except RuntimeError as error:
        if not raise_exception:
            return False
        raise GradcheckError(str(error)) from None


def _refuse(name, **others):
    """Refuses options that are not here yet, unless they have their defaults."""
    for option, other in others.items():
        if other:
            raise NotImplementedError(f"{name}: {option} is not here yet; leave it out")


def gradcheck(func: Callable[..., Any], inputs: Tensor | Sequence[Any], *, eps: float = 1e-6,
              atol: float = 1e-5, rtol: float = 1e-3, raise_exception: bool = True,
              nondet_tol: float = 0.0, check_undefined_grad: bool = True,
              check_grad_dtypes: bool = False, check_batched_grad: bool = False,
              check_batched_forward_grad: bool = False, check_forward_ad: bool = False,
              check_backward_ad: bool = True, fast_mode: bool = False,
              masked: bool | None = None) -> bool:
    """Checks first derivatives of func at the inputs, which should be float64.

    fast_mode changes nothing: every derivative is checked.
    """
    if check_forward_ad or check_batched_grad or check_batched_forward_grad:
        raise NotImplementedError("gradcheck: forward mode and batched gradients are not here yet")
    _refuse("gradcheck", check_grad_dtypes=check_grad_dtypes, masked=masked,
            check_backward_ad=not check_backward_ad)
    call, tensors = _prepare(func, inputs)
    return _run(lambda: _C._gradcheck(call, tensors, eps, atol, rtol, nondet_tol,
                                      check_undefined_grad), raise_exception)


def gradgradcheck(func: Callable[..., Any], inputs: Tensor | Sequence[Any],
                  grad_outputs: Tensor | Sequence[Tensor] | None = None, *, eps: float = 1e-6,
                  atol: float = 1e-5, rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False,
                  raise_exception: bool = True, nondet_tol: float = 0.0,
                  check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
                  check_batched_grad: bool = False, check_fwd_over_rev: bool = False,
                  check_rev_over_rev: bool = True, fast_mode: bool = False,
                  masked: bool = False) -> bool:
    """Checks second derivatives of func at the inputs."""
    if check_fwd_over_rev or check_batched_grad:
        raise NotImplementedError("gradgradcheck: forward mode and batches are not here yet")
    _refuse("gradgradcheck", check_grad_dtypes=check_grad_dtypes, masked=masked,
            gen_non_contig_grad_outputs=gen_non_contig_grad_outputs,
            check_rev_over_rev=not check_rev_over_rev)
    call, tensors = _prepare(func, inputs)
    if grad_outputs is None:
        grad_outputs = ()
    elif isinstance(grad_outputs, _C.Tensor):
        grad_outputs = (grad_outputs,)
    return _run(lambda: _C._gradgradcheck(call, tensors, list(grad_outputs), eps, atol, rtol,
                                          nondet_tol, check_undefined_grad), raise_exception)

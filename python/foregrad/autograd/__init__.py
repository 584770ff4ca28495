"""Gradients: backward, grad, custom functions, the graph and its modes."""

from foregrad import _C
from foregrad.autograd import function, graph  # noqa: F401
from foregrad.autograd._modes import (  # noqa: F401
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from foregrad.autograd.function import Function  # noqa: F401
from foregrad.autograd.graph import GradientEdge
from foregrad.autograd.gradcheck import gradcheck, gradgradcheck  # noqa: F401

__all__ = ["Function", "backward", "grad", "gradcheck", "gradgradcheck", "no_grad", "enable_grad",
           "set_grad_enabled", "inference_mode", "Variable"]


def Variable(data, requires_grad=False, volatile=None):
    """The tensor itself, as in PyTorch since 0.4."""
    return data.detach().requires_grad_() if requires_grad else data


def _as_tuple(points):
    if isinstance(points, (_C.Tensor, GradientEdge)):
        return (points,)
    return tuple(points)


def _check_flags(**flags):
    for name, flag in flags.items():
        if flag is not None and not isinstance(flag, bool):
            raise TypeError(f"{name} must be a bool, not {type(flag).__name__}")


def _gradients(grads, count):
    if grads is None:
        return (None,) * count
    return _as_tuple(grads)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None,
             inputs=None):
    """Adds the gradients of the tensors to the leaves, or to the given inputs."""
    _check_flags(retain_graph=retain_graph, create_graph=create_graph)
    if grad_variables is not None:
        grad_tensors = grad_variables
    tensors = _as_tuple(tensors)
    if inputs is not None:
        if isinstance(inputs, dict):
            inputs = inputs.values()
        inputs = _as_tuple(inputs)
        if len(inputs) == 0:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    grads = _gradients(grad_tensors, len(tensors))
    if len(grads) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grads)} gradients")
    if not tensors:
        return
    _C._run_backward(tensors, grads, retain_graph, create_graph, inputs)


def _backward_of_tensor(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of this tensor to the leaves."""
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


_backward_of_tensor.__name__ = "backward"
_C.Tensor.backward = _backward_of_tensor


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False,
         only_inputs=True, allow_unused=None, is_grads_batched=False, materialize_grads=False):
    """The gradients of the outputs with respect to the inputs, as a tuple."""
    _check_flags(retain_graph=retain_graph, create_graph=create_graph, allow_unused=allow_unused)
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when "
                         "materialize_grads=True, but got: allow_unused=False.")
    names = None
    if isinstance(inputs, dict):
        names, inputs = tuple(inputs), inputs.values()
    outputs, inputs = _as_tuple(outputs), _as_tuple(inputs)
    grads = _gradients(grad_outputs, len(outputs))
    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    results = _C._run_grad(outputs, inputs, grads, retain_graph, create_graph, bool(allow_unused),
                           is_grads_batched, materialize_grads)
    return results if names is None else dict(zip(names, results))

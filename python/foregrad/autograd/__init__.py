"""Gradients: backward, grad, custom functions, the graph and its modes."""

import warnings

from foregrad import _C
from foregrad.autograd import function, graph  # noqa: F401
from foregrad.autograd._modes import (  # noqa: F401
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from foregrad.autograd.function import Function  # noqa: F401
from foregrad.autograd.graph import GradientEdge  # noqa: F401
from foregrad.autograd.gradcheck import gradcheck, gradgradcheck  # noqa: F401

__all__ = ["Function", "backward", "grad", "gradcheck", "gradgradcheck", "no_grad", "enable_grad",
           "set_grad_enabled", "inference_mode", "Variable"]


def Variable(data, requires_grad=False, volatile=None):
    """The tensor itself, as in PyTorch since 0.4."""
    return data.detach().requires_grad_() if requires_grad else data


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None,
             inputs=None):
    """Adds the gradients of the tensors to the leaves, or to the given inputs."""
    if grad_variables is not None:
        grad_tensors = grad_variables
    _C._run_backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


def _backward_of_tensor(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of this tensor to the leaves."""
    _C._run_backward(self, gradient, retain_graph, create_graph, inputs)


_backward_of_tensor.__name__ = "backward"
_C.Tensor.backward = _backward_of_tensor


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False,
         only_inputs=True, allow_unused=None, is_grads_batched=False, materialize_grads=False):
    """The gradients of the outputs with respect to the inputs, as a tuple."""
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True). "
                      "To accumulate gradient for other parts of the graph, please use "
                      "foregrad.autograd.backward.", FutureWarning, stacklevel=2)
    names = None
    if isinstance(inputs, dict):
        names, inputs = tuple(inputs), inputs.values()
    results = _C._run_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused,
                           is_grads_batched, materialize_grads)
    return results if names is None else dict(zip(names, results))

"""Gradients: backward, grad, custom functions, the graph and its modes."""

import warnings
from collections.abc import Mapping

from foregrad import _C
from foregrad.autograd import function, graph  # noqa: F401
from foregrad.autograd._modes import (  # noqa: F401
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from foregrad.autograd.function import Function  # noqa: F401
from foregrad.autograd.graph import GradientEdge, SavedTensor  # noqa: F401
from foregrad.autograd.gradcheck import gradcheck, gradgradcheck  # noqa: F401

__all__ = ["Function", "backward", "grad", "gradcheck", "gradgradcheck", "no_grad", "enable_grad",
           "set_grad_enabled", "inference_mode", "Variable"]


def __getattr__(name):
    if name == "profiler":  # loaded when it is first needed
        import importlib

        return importlib.import_module("foregrad.autograd.profiler")
    raise AttributeError(f"module 'foregrad.autograd' has no attribute '{name}'")


class _VariableMeta(type):
    def __instancecheck__(cls, other):
        return isinstance(other, _C.Tensor)


class Variable(metaclass=_VariableMeta):
    """The data of a tensor as a new leaf; every tensor is a Variable, as in PyTorch since 0.4."""

    def __new__(cls, data=None, requires_grad=None, volatile=None):
        if volatile is not None:
            warnings.warn("volatile was removed and now has no effect; use no_grad()", stacklevel=2)
        if data is None:
            return _C.Tensor()
        if not isinstance(data, _C.Tensor):
            raise TypeError(f"Variable: data must be a Tensor, not {type(data).__name__}")
        return data.detach().requires_grad_(bool(requires_grad))


def _named(inputs, who):
    """The names of inputs in a dictionary, or None; and the inputs."""
    if type(inputs) is dict:
        return tuple(inputs), tuple(inputs.values())
    if isinstance(inputs, Mapping):
        raise TypeError(f"{who}: inputs must be a dict, not {type(inputs).__name__}; other "
                        "mappings are not taken")
    return None, inputs


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None,
             inputs=None):
    """Adds the gradients of the tensors to the leaves, or to the given inputs."""
    if grad_variables is not None:
        warnings.warn("grad_variables is deprecated; use grad_tensors", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("backward: grad_tensors and grad_variables (deprecated) are the "
                               "same argument; give grad_tensors only")
        grad_tensors = grad_variables
    _, inputs = _named(inputs, "backward")
    _C._run_backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


def _backward_of_tensor(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of this tensor to the leaves."""
    if inputs is not None:
        _, inputs = _named(inputs, "backward")
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
    names, inputs = _named(inputs, "grad")
    results = _C._run_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused,
                           is_grads_batched, materialize_grads)
    return results if names is None else dict(zip(names, results))

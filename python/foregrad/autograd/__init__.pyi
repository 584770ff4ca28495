"""Gradients: backward, grad, custom functions, the graph and its modes."""
# Written by hand: functions of the native module, and overloads by the type of what is differentiated.

from collections.abc import Sequence
from typing import Any, TypeVar, overload

from foregrad import Tensor
from foregrad.autograd import function as function
from foregrad.autograd import graph as graph
from foregrad.autograd._modes import enable_grad as enable_grad
from foregrad.autograd._modes import inference_mode as inference_mode
from foregrad.autograd._modes import no_grad as no_grad
from foregrad.autograd._modes import set_grad_enabled as set_grad_enabled
from foregrad.autograd.function import Function as Function
from foregrad.autograd.gradcheck import gradcheck as gradcheck
from foregrad.autograd.gradcheck import gradgradcheck as gradgradcheck
from foregrad.autograd.graph import GradientEdge as GradientEdge
from foregrad.autograd.graph import SavedTensor as SavedTensor

__all__ = ["Function", "backward", "grad", "gradcheck", "gradgradcheck", "no_grad", "enable_grad",
           "set_grad_enabled", "inference_mode", "Variable"]

_Point = Tensor | GradientEdge
_Points = _Point | Sequence[_Point]
_Gradients = Tensor | Sequence[Tensor | None] | None
_Name = TypeVar("_Name")

class Variable(Tensor):
    """The data of a tensor as a new leaf; every tensor is a Variable, as in PyTorch since 0.4."""

    def __new__(  # type: ignore[misc]
        cls, data: Tensor | None = None, requires_grad: bool | None = None, volatile: Any = None
    ) -> Tensor: ...

def backward(
    tensors: _Points,
    grad_tensors: _Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: _Gradients = None,
    inputs: _Points | dict[Any, Tensor] | None = None,
) -> None:
    """Adds the gradients of the tensors to the leaves, or to the given inputs."""

@overload
def grad(
    outputs: _Points,
    inputs: _Points,
    grad_outputs: _Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """The gradients of the outputs with respect to the inputs, as a tuple."""

@overload
def grad(
    outputs: _Points,
    inputs: dict[_Name, Tensor],
    grad_outputs: _Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> dict[_Name, Tensor]:
    """The same by the names of the inputs."""

"""The graph: nodes, gradient edges, versions, hooks of saved tensors and of new nodes."""
# Written by hand: nodes, edges and saved tensors are native classes, which no source has.

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeVar

from foregrad import Tensor
from foregrad.utils.hooks import RemovableHandle as RemovableHandle

__all__ = ["Node", "GradientEdge", "get_gradient_edge", "increment_version", "saved_tensors_hooks",
           "disable_saved_tensors_hooks", "node_creation_hook"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Gradients = tuple[Tensor | None, ...]

class Node:
    """The record of the call that made a tensor: passes its gradient on to the inputs."""

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Pairs of a node and its input."""
    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for users."""
    def name(self) -> str:
        """The name of the node, as AddBackward0."""
    def register_hook(
        self, hook: Callable[[_Gradients, _Gradients], _Gradients | None], /
    ) -> RemovableHandle:
        """Calls hook(grad_inputs, grad_outputs) after the node ran; returns a handle."""
    def register_prehook(
        self, hook: Callable[[_Gradients], _Gradients | None], /
    ) -> RemovableHandle:
        """Calls hook(grad_outputs) before the node runs; returns a handle."""
    def __call__(self, *grads: Tensor | None) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class SavedTensor:
    """A value that a node saved, not unpacked yet."""

    @property
    def data(self) -> Any:
        """The tensor itself without its history, or what a pack hook made of it; None: freed."""
    @property
    def unpack_hook(self) -> Callable[[Any], Tensor] | None:
        """The hook that makes the tensor of `data`, or None."""
    def unpack(self) -> Tensor: ...
    def register_hooks(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor], /
    ) -> None: ...

class GradientEdge(NamedTuple):
    """A place in the graph: the output of a node."""

    node: Node
    output_nr: int
    ownership_token: Any = None

def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge along which the gradient of a tensor goes: to its node, or a leaf's accumulator."""

def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Marks tensors as modified in place."""

class saved_tensors_hooks:
    """Inside, tensors saved for backward go through pack_hook, and back through unpack_hook."""

    pack_hook: Callable[[Tensor], Any]
    unpack_hook: Callable[[Any], Tensor]
    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...

def node_creation_hook(fn: Callable[[Node], None]) -> AbstractContextManager[None]:
    """Inside, fn(node) is called with every new node of the graph, once the node is complete."""

class disable_saved_tensors_hooks:
    """Inside, saved_tensors_hooks raises with the message."""

    error_message: str
    def __init__(self, error_message: str) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...
    def __call__(self, function: _Function) -> _Function: ...

"""The graph: nodes, gradient edges, versions, hooks of saved tensors."""

from typing import Any, NamedTuple, Optional

from foregrad import _C
from foregrad._C import Node, RemovableHandle, SavedTensor  # noqa: F401

__all__ = ["Node", "GradientEdge", "get_gradient_edge", "increment_version", "saved_tensors_hooks",
           "disable_saved_tensors_hooks"]


class GradientEdge(NamedTuple):
    """A place in the graph: the output of a node."""

    node: Any
    output_nr: int
    ownership_token: Optional[Any] = None


def get_gradient_edge(tensor):
    """Where the gradient of a tensor goes: its node, or its accumulator for a leaf."""
    return GradientEdge(*_C._get_gradient_edge(tensor))


def increment_version(tensor):
    """Marks tensors as modified in place."""
    if isinstance(tensor, _C.Tensor):
        tensor = (tensor,)
    _C._increment_version(list(tensor))


class saved_tensors_hooks:
    """Inside, tensors saved for backward go through pack_hook, and back through unpack_hook."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        _C._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *error):
        _C._pop_saved_tensors_hooks()


class disable_saved_tensors_hooks:
    """Inside, saved_tensors_hooks raises with the message."""

    def __init__(self, error_message):
        self.error_message = error_message

    def __enter__(self):
        _C._disable_saved_tensors_hooks(self.error_message)

    def __exit__(self, *error):
        _C._enable_saved_tensors_hooks()

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with disable_saved_tensors_hooks(self.error_message):
                return function(*args, **kwargs)

        return wrapped

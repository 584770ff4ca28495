"""The graph: nodes, gradient edges, versions, hooks of saved tensors and of new nodes."""

import contextlib
from collections import namedtuple

from foregrad import _C
from foregrad._C import Node, SavedTensor  # noqa: F401
from foregrad.utils.hooks import RemovableHandle  # noqa: F401

__all__ = ["Node", "GradientEdge", "get_gradient_edge", "increment_version", "saved_tensors_hooks",
           "disable_saved_tensors_hooks", "node_creation_hook"]


class GradientEdge(namedtuple("GradientEdge", "node output_nr ownership_token", defaults=[None])):
    """A place in the graph: the output of a node."""

    __slots__ = ()


def get_gradient_edge(tensor):
    """The edge along which the gradient of a tensor goes: to its node, or a leaf's accumulator."""
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


@contextlib.contextmanager
def node_creation_hook(fn):
    """Inside, fn(node) is called with every new node of the graph, once the node is complete.

    It may look at the node and register hooks on it; it must return None and make no nodes itself.
    Nested contexts call all their functions, outermost first.
    """
    _C._push_node_creation_hook(fn)
    try:
        yield
    finally:
        _C._pop_node_creation_hook()


class disable_saved_tensors_hooks:
    """Inside, saved_tensors_hooks raises with the message."""

    def __init__(self, error_message):
        self.error_message = error_message
        self.outer = []

    def __enter__(self):
        self.outer.append(_C._disable_saved_tensors_hooks(self.error_message))

    def __exit__(self, *error):
        _C._disable_saved_tensors_hooks(self.outer.pop())

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with disable_saved_tensors_hooks(self.error_message):
                return function(*args, **kwargs)

        return wrapped

"""Graphs as Python programs look at them: callable, with code and nodes."""

from collections import namedtuple

from foregrad import _C

Graph = _C.Graph
Node = namedtuple("Node", "op name target args")


def _nodes(self):
    """Inputs, operations and the output, in order."""
    return [Node(*node) for node in self._nodes]


Graph.nodes = property(_nodes)
Graph.graph = property(lambda self: self, doc="The graph itself, as an fx GraphModule has one.")
Graph.__iter__ = lambda self: iter(self.nodes)

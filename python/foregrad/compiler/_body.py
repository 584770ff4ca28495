"""A Python function as the library captures it: a function of a list of tensors."""

from foregrad import _C
from foregrad.compiler import _tree
from foregrad.compiler._names import as_text
from foregrad.compiler._numbers import Swap, TracedFloat
from foregrad.compiler._sources import Snapshot

Tensor = _C.Tensor


class CaptureError(RuntimeError):
    """A function cannot be captured; it can still run eagerly."""


def each_once(tensors):
    """Each tensor once, and where each of the given ones is among them."""
    unique, places, known = [], [], {}
    for tensor in tensors:
        place = known.setdefault(id(tensor), len(unique))
        if place == len(unique):
            unique.append(tensor)
        places.append(place)
    return unique, places


class Lift:
    """A tensor that the function reached by itself: its place among those found, and its name."""

    def __init__(self, tensors, names):
        self.tensors, self.names = tensors, [as_text(name) for name in names]

    def __call__(self, tensor, exactly):
        for i, candidate in enumerate(self.tensors):
            if candidate is tensor:
                return i, self.names[i], tensor
        if exactly:
            return None
        for i, candidate in enumerate(self.tensors):
            if _C.same_storage(candidate, tensor):
                return i, self.names[i], candidate
        raise CaptureError(
            "a tensor is used that is neither an argument nor found in a variable or attribute "
            "that the function reads; pass it as an argument")


_PLAIN = (int, float, bool, str, bytes, complex, type(None), _C.dtype, _C.Size, slice, type)


def _leaves(tree):
    found = []
    _tree.map_leaves(tree, found.append)
    return found


class Body:
    """The function of a list of tensors that is captured."""

    def __init__(self, owner, arguments, results, floats):
        self.owner, self.arguments, self.results = owner, arguments, results
        self.floats = [place for _, place in floats.values()]

    def __call__(self, inside):
        tensors, floats = [], []
        tree = _tree.flatten(self.arguments, tensors, floats, [])
        unique, places = each_once(tensors)
        fixed = self.owner.fixed.get(tree, ())
        moving = inside[len(inside) - len(self.floats):]
        number = iter([inside[len(unique) + i - sum(f < i for f in fixed)] if i not in fixed else
                       None for i in range(len(floats))])
        place = iter(places)

        def replace(leaf):
            if isinstance(leaf, Tensor):
                return inside[next(place)]
            if type(leaf) is float:
                tensor = next(number)
                return leaf if tensor is None else TracedFloat(tensor)
            return leaf

        arguments = _tree.map_leaves(self.arguments, replace)
        before = _tree.flatten(arguments, [], [], []), _leaves(arguments)
        args, kwargs = arguments
        with Swap(self.floats, moving):
            result = self.owner.function(*args, **kwargs)
        if before[0] != _tree.flatten(arguments, [], [], []) or any(
                a is not b for a, b in zip(before[1], _leaves(arguments))):
            raise CaptureError("the function changes a list or dictionary that is an argument; "
                               "return a new one")
        outputs = []

        def keep(leaf):
            if type(leaf) is TracedFloat:
                leaf._known()
            if isinstance(leaf, Tensor):
                outputs.append(leaf)
                return _tree.TENSOR
            if not isinstance(leaf, _PLAIN) and any(
                    _C.is_abstract(tensor) for tensor in Snapshot([leaf]).tensors):
                raise CaptureError(f"the function returns a {type(leaf).__name__} that holds "
                                   "tensors; return them in lists, tuples or dictionaries")
            return leaf

        self.results.append(_tree.map_leaves(result, keep))
        return outputs


class Rebuild:
    """Results in the structure that the function returned them in."""

    def __init__(self, tree):
        self.tree = tree
        self.single = tree is _tree.TENSOR

    def __call__(self, tensors):
        if self.single:
            return tensors[0]
        rest = iter(tensors)
        return _tree.map_leaves(
            self.tree, lambda leaf: next(rest) if leaf is _tree.TENSOR else leaf)

"""A Python function as the library captures it: a function of a list of tensors."""

import sys
import types

from foregrad import _C
from foregrad.compiler._names import as_text
from foregrad.compiler._numbers import Swap, TracedFloat
from foregrad.compiler._sources import Snapshot
from foregrad.compiler._stores import take_stores
from foregrad.compiler._watch import CaptureError

Tensor = _C.Tensor


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


_SHARED = (type(Ellipsis), range, frozenset, types.FunctionType, types.ModuleType,
           types.BuiltinFunctionType, types.MethodType)
_PLAIN = (int, float, bool, str, bytes, complex, type(None), _C.dtype, _C.Size, slice, type)


class Body:
    """The function of a list of tensors that is captured."""

    def __init__(self, function, call, results, snapshot):
        self.function, self.call, self.results = function, call, results
        self.snapshot, self.stores = snapshot, []
        self.floats = [place for _, place in snapshot.places.values()]

    def is_new(self, value):
        """Whether an object was made by the function, as far as is known."""
        members = getattr(sys.modules.get("enum"), "Enum", ())
        shared = isinstance(value, _SHARED) or isinstance(value, members)
        ours = type(value).__module__.partition(".")[0] == "foregrad"
        given = any(value is one for one in self.call.given.objects)
        return not (shared or ours or given or self.snapshot.knows(value))

    def __call__(self, inside):
        given, fixed = self.call.given, self.call.fixed
        moving = inside[len(inside) - len(self.floats):]
        rest = iter(inside[len(given.tensors):])
        number = iter([None if i in fixed else next(rest) for i in range(len(given.floats))])
        place = iter(given.places)

        def replace(leaf):
            if isinstance(leaf, Tensor):
                return inside[next(place)]
            if type(leaf) is float:
                tensor = next(number)
                return leaf if tensor is None else TracedFloat(tensor)
            return leaf

        args, kwargs = _C.map_leaves(self.call.arguments, replace)
        before = _C.Arguments(*args, **kwargs)
        with Swap(self.floats, moving):
            result = self.function(*args, **kwargs)
        if not before.equals(_C.Arguments(*args, **kwargs)):
            raise CaptureError("the function changes a list or dictionary that is an argument; "
                               "return a new one")
        outputs = []

        def keep(leaf):
            if type(leaf) is TracedFloat:
                leaf._known()
            if isinstance(leaf, Tensor):
                outputs.append(leaf)
                return _C.RESULT_TENSOR
            if not isinstance(leaf, _PLAIN) and any(
                    _C.is_abstract(tensor) for tensor in Snapshot([leaf]).tensors):
                raise CaptureError(f"the function returns a {type(leaf).__name__} that holds "
                                   "tensors; return them in lists, tuples or dictionaries")
            if not isinstance(leaf, _PLAIN) and self.is_new(leaf):
                raise CaptureError(f"the function returns a {type(leaf).__name__} that it makes, "
                                   "which would be the same one at every call; return tensors, "
                                   "numbers and texts in lists, tuples or dictionaries")
            return leaf

        self.stores = take_stores(self.snapshot.originals, self.snapshot.variables, result)
        if self.stores:
            result = result, [store.value for store in self.stores]
        self.results.append(_C.map_leaves(result, keep))
        return outputs

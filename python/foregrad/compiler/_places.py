"""Places that a function reads, and the values at them that are compared by equality."""

from foregrad import _C

_VALUES = (int, float, bool, str, bytes, complex, type(None), type(Ellipsis), range, _C.dtype)
PLAIN = frozenset(_VALUES)
_DEEPEST_VALUE = 5


class Place:
    """A variable, attribute or item that was read and can be set."""

    def __init__(self, how, holder, key):
        self._how, self._holder, self._key = how, holder, key
        self.identity = (how, id(holder), key)

    def read(self):
        return _C.read(self._how, self._holder, self._key)

    def put_back(self, value):
        """Gives an attribute its value from before, if it can be set."""
        if self.read() is value:
            return
        try:
            if value is _C.MISSING:
                delattr(self._holder, self._key)
            else:
                self.write(value)
        except (AttributeError, TypeError):
            pass

    def write(self, value):
        if self._how == "cell":
            self._holder.cell_contents = value
        elif self._how in ("attribute", "class_entry"):
            setattr(self._holder, self._key, value)
        else:
            self._holder[self._key] = value


def is_value(value, depth=0):
    """Whether an object is compared by equality, not by identity."""
    if type(value) in PLAIN:
        return True
    if type(value) is not tuple and type(value) is not frozenset:
        # Other kinds of numbers and texts may have attributes.
        return isinstance(value, _VALUES) and type(value).__module__ == "numpy"
    # A tuple that is nested more deeply is read item by item, without looking into all of it at
    # each level.
    return depth < _DEEPEST_VALUE and all(
        is_value(item, depth + 1) and type(item) is not float for item in value)


def is_data(value):
    """Whether a variable that code reaches by a computed name may be a number, or holds some."""
    return isinstance(value, (_C.Tensor, list, tuple, dict, set)) or is_value(value)

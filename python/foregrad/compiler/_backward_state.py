"""The state that backwards and hooks of a captured function read when they run, beside tensors.

Eager code reads it in the backward, which may be long after the forward. So a compiled backward is
traced for one state, and used again when the state is the same.
"""

from operator import is_

from foregrad import _C
from foregrad.compiler._places import is_value

_MOST = 64


class BackwardState:
    """The states that code in a backward has found at the places that it reads, by number.

    `reads` are those of a snapshot: (how, holder, key, kind of condition, value). Numbers and texts
    may change; a tensor must be that of the call. An object or container must be that of the
    capture, because the snapshot does not know its other contents.
    """

    def __init__(self, name, reads):
        self._name, self._values = name, []
        tensors, objects = [], []
        for read in reads:
            how, _, _, expected, value = read
            if expected == "tensor":
                tensors.append(read)
            elif value is not _C.MISSING and (expected == "same"
                                              or how in ("length", "keys", "memory",
                                                         "attributes")):
                objects.append(read)
            else:
                self._values.append(read[:3])
        self._tensors, self._objects = _C.Reads(tensors), _C.Reads(objects)
        self._known = []  # values by the number of their state

    def of_call(self):
        """A function that returns the number of the current state, for a new call's backward."""
        tensors = self._tensors_now()
        return lambda: self._now(tensors)

    def _tensors_now(self):
        """The tensors that are there now; the error when something else is in the place of one."""
        try:
            return self._tensors.again()[0]
        except RuntimeError as error:
            return error

    def _now(self, tensors):
        now = self._tensors_now()
        for found in (tensors, now):
            if isinstance(found, RuntimeError):
                self._refuse(found)
        if not all(map(is_, tensors, now)):
            self._refuse("a tensor was replaced by another one")
        try:
            self._objects.again()
        except RuntimeError as error:
            self._refuse(error)
        for i, values in enumerate(self._known):
            if values.hold():
                return i
        if len(self._known) == _MOST:
            self._refuse(f"numbers or texts are in the {_MOST + 1}th state")
        self._known.append(_C.Reads([self._as_now(*place) for place in self._values]))
        return len(self._known) - 1

    def _as_now(self, how, holder, key):
        value = _C.read(how, holder, key)
        if value is _C.MISSING:
            return how, holder, key, "same", value
        if not is_value(value):
            self._refuse(f"{key} is a {type(value).__name__} now")
        return how, holder, key, "bits" if type(value) is float else "value", value

    def _refuse(self, why):
        raise RuntimeError(f"what a backward or a hook of the compiled {self._name} reads was "
                           f"changed since the call: {why}; change it before the call, or in place")

"""Calls that no version fits."""

import struct

from foregrad import _C
from foregrad.compiler._names import argument_names


class Call:
    """A call that no version fits: its arguments, as they came and flattened, and the inputs and
    key of a new version."""

    def __init__(self, given, args, kwargs):
        self.given, self.arguments = given, (args, kwargs)
        self.structure = given.structure()
        self._names = None

    def fix(self, places):
        """Makes the floats at these places constants, and all others inputs."""
        self.fixed = places
        floats = list(enumerate(self.given.floats))
        constants = [value for i, value in floats if i in places]
        self.inputs = self.given.tensors
        self.inputs += [_C.number_tensor(value) for i, value in floats if i not in places]
        self.key = (self.structure, tuple(self.given.places),
                    struct.pack(f"{len(constants)}d", *constants))  # NaN and both zeros

    def names(self, function):
        """Names of the tensors, floats and objects among the arguments."""
        if self._names is None:
            self._names = argument_names(function, self.given, len(self.arguments[0]))
        return self._names

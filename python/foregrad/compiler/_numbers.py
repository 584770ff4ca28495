"""Floats of captured functions: inputs of the graph that behave as floats."""

from foregrad import _C

Tensor = _C.Tensor


class TracedFloat:
    """The stand-in of a float while a function is captured: computations with it are recorded.

    Another thread may find it in a variable: there it behaves as the float.
    """

    __slots__ = ("_tensor", "_value")
    __class__ = property(lambda self: float)  # isinstance(x, float) holds

    def __init__(self, tensor, value=None):
        self._tensor, self._value = tensor, value

    def _known(self):
        """The value outside of a capture; asking for it inside ends the capture."""
        if self._value is None or _C.is_capturing():
            _C.ask_number(self._tensor)
        return self._value

    def __pos__(self):
        return self

    def __getattr__(self, name):
        return getattr(self._known(), name)


def _asking(name):
    def method(self, *others):
        others = [other._known() if type(other) is TracedFloat else other for other in others]
        return getattr(self._known(), name)(*others)

    return method


for _name in ("float", "int", "bool", "hash", "round", "trunc", "floor", "ceil", "eq", "ne", "lt",
              "le", "gt", "ge", "floordiv", "rfloordiv", "mod", "rmod", "divmod", "rdivmod",
              "format", "repr", "str", "reduce", "reduce_ex"):
    setattr(TracedFloat, f"__{_name}__", _asking(f"__{_name}__"))


def _operand(value):
    if type(value) is TracedFloat:
        return value._tensor
    return _C.number_tensor(float(value)) if type(value) in (int, float, bool) else None


def _recording(name, operation, reflected=False):
    """Python computes in double; so does the graph."""

    def method(self, *others):
        other = _operand(others[0]) if others else None
        if others and other is None:
            return NotImplemented  # a tensor knows what to do with a float
        if not _C.is_capturing():
            return _asking(name)(self, *others)
        operands = [self._tensor, *([other] if others else [])]
        return TracedFloat(_C.float_operation(operation, *operands[::-1 if reflected else 1]))

    return method


for _name, _operation in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"),
                          ("pow", "pow")):
    setattr(TracedFloat, f"__{_name}__", _recording(f"__{_name}__", _operation))
    setattr(TracedFloat, f"__r{_name}__", _recording(f"__r{_name}__", _operation, True))
for _name in ("neg", "abs"):
    setattr(TracedFloat, f"__{_name}__", _recording(f"__{_name}__", _name))

_C.set_number_type(TracedFloat)


class Swap:
    """Puts traced floats into the variables and attributes that hold floats, for one capture."""

    def __init__(self, places, tensors):
        self.held = []
        for place, tensor in zip(places, tensors):
            value = place.read()
            traced = TracedFloat(tensor, value)
            self.held.append((place, value, traced))

    def __enter__(self):
        for place, _, traced in self.held:
            place.write(traced)

    def __exit__(self, *error):
        changed = False
        for place, value, traced in self.held:
            changed |= place.read() is not traced
            if place.read() is traced or type(place.read()) is TracedFloat:
                place.write(value)
        if changed and error[0] is None:
            raise RuntimeError("the function changes a variable or attribute that is a float")

"""Float arguments of captured functions: inputs of the graph that behave as floats."""

from foregrad import _C


class ValueAsked(RuntimeError):
    """The value of a float argument is needed while the function is captured."""


def _operation(name, reflected):
    def method(self, other):
        if isinstance(other, _C.Tensor):
            left, right = (other, self._tensor) if reflected else (self._tensor, other)
            return getattr(_C.Tensor, name)(left, right)
        if type(other) is TracedFloat:
            other = other._tensor
        elif type(other) in (int, float, bool):
            other = _C.number_tensor(float(other))
        else:
            return NotImplemented
        # Python computes in double; a number among numbers would be of the default dtype.
        left, right = (other, self._tensor) if reflected else (self._tensor, other)
        return TracedFloat(getattr(_C.Tensor, name)(_C.as_tensor(left), _C.as_tensor(right)))

    return method


class TracedFloat:
    """Stands for a float argument: its value is not known, what is computed of it is recorded."""

    __slots__ = ("_tensor",)
    __class__ = property(lambda self: float)  # isinstance(x, float) holds

    def __init__(self, tensor):
        self._tensor = _C.as_number(tensor)

    def _ask(self, *unused):
        raise ValueAsked("the value of a float argument is asked for while it is captured")

    __float__ = __int__ = __bool__ = __index__ = __hash__ = __round__ = __trunc__ = _ask
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __floordiv__ = __mod__ = _ask
    __pow__ = __rpow__ = __rfloordiv__ = __rmod__ = __divmod__ = __floor__ = __ceil__ = _ask
    __format__ = __repr__ = __str__ = __reduce__ = _ask

    def __getattr__(self, name):
        self._ask()

    def __neg__(self):
        return TracedFloat(-_C.as_tensor(self._tensor))

    def __pos__(self):
        return self

    def __abs__(self):
        return TracedFloat(abs(_C.as_tensor(self._tensor)))


# What gives the same bits for a number and for a tensor of one.
for _name in ("add", "sub", "mul"):
    setattr(TracedFloat, f"__{_name}__", _operation(f"__{_name}__", False))
    setattr(TracedFloat, f"__r{_name}__", _operation(f"__{_name}__", True))



def _divide(self, other):
    if isinstance(other, _C.Tensor):
        self._ask()  # a number divided by a tensor is number * reciprocal
    return _operation("__truediv__", False)(self, other)


TracedFloat.__truediv__ = _divide
TracedFloat.__rtruediv__ = _operation("__truediv__", True)
_C.set_number_type(TracedFloat)

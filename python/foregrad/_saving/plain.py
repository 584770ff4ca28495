"""Makers of Python's and numpy's own classes, for files that are not trusted.

They take what a pickle of the class says and nothing else, and copy no more than the file is long:
`budget` is called with the size of every copy.
"""

from __future__ import annotations

import collections
import math
import re
import sys

from foregrad._saving.rebuild import expect

_FACTORIES = (list, dict, set, tuple, int, float, str, bool, collections.OrderedDict,
              collections.Counter, collections.deque)
_ENCODINGS = ("latin1", "latin-1", "iso-8859-1")
# Letters of numpy's numbers and texts: no objects, records or dates.
_NUMPY_DTYPE = re.compile(r"[<>=|]?(b1|[iuf][1248]|f16|c(8|16|32)|[SUV]\d{1,6}|\?)")


def _sequence(value):
    if type(value) not in (list, tuple):
        raise TypeError(f"the items are a {type(value).__name__}; expected a list or tuple")
    return value


def ordered_dict(rules, pairs=()):
    made = collections.OrderedDict()
    for pair in _sequence(pairs):
        if len(_sequence(pair)) != 2:
            raise ValueError("a pair of key and value has another length than 2")
    rules.budget(len(pairs))
    rules.set_items(made, [tuple(pair) for pair in pairs])
    return made


def counter(rules, counts=None):
    made = collections.Counter()
    if counts is not None:
        rules.budget(len(expect(counts, dict, "the counts")))
        rules.set_items(made, list(counts.items()))
    return made


def default_dict(rules, factory=None, *more):
    rules.fragile()
    if more or not (factory is None or any(factory is known for known in _FACTORIES)):
        raise TypeError(f"a defaultdict of {factory!r} {more}; expected a class of Python's "
                        "containers, numbers or texts")
    return collections.defaultdict(factory)


def deque(rules, items=(), longest=None):
    rules.fragile()
    rules.budget(len(_sequence(items)))
    if longest is not None and (type(longest) is not int or longest < 0):
        raise TypeError(f"the length of a deque is {longest!r}; expected an integer")
    return collections.deque(items, longest)


def set_of(kind):
    def make(rules, items=()):
        rules.budget(len(_sequence(items)))
        rules.check_keys(items)
        return kind(items)
    return make


def complex_number(rules, real=0.0, imaginary=0.0):
    if any(type(part) not in (int, float) for part in (real, imaginary)):
        raise TypeError("the parts of a complex number are no numbers")
    return complex(real, imaginary)


def encoded(rules, text, encoding="latin1"):
    """Bytes, as pickles of protocol 2 have them: a text with their numbers."""
    if encoding not in _ENCODINGS:
        raise ValueError(f"the encoding is {encoding!r}; expected latin1")
    rules.budget(len(expect(text, str, "the text")))
    return text.encode("latin1")


def byte_array(rules, data=b"", encoding="latin1"):
    if type(data) is str:
        data = encoded(rules, data, encoding)
    rules.budget(len(expect(data, bytes, "the data")))
    return bytearray(data)


# ---- numpy

def _elements(shape):
    if any(type(n) is not int or n < 0 for n in expect(shape, tuple, "the shape")):
        raise ValueError(f"the shape is {shape!r}; expected integers of at least 0")
    return math.prod(shape)


def _plain(dtype):
    """The dtype, if its elements are numbers or texts."""
    import numpy

    if not isinstance(dtype, numpy.dtype) or dtype.names or dtype.hasobject or \
            not _NUMPY_DTYPE.fullmatch(dtype.str):
        raise TypeError(f"the elements are {dtype!r}; expected numbers or texts: objects and "
                        "records of numpy need weights_only=False")
    return dtype


def is_array(thing):
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(thing) is numpy.ndarray


def is_numpy_dtype(thing):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(thing, numpy.dtype)


def numpy_empty(rules, kind, shape, letter):
    """The array that gets its shape and elements from set_numpy_state()."""
    import numpy

    if kind is not numpy.ndarray or shape != (0,):
        raise TypeError(f"an array of the class {kind!r} and shape {shape!r}; expected ndarray "
                        "and (0,)")
    return numpy.ndarray((0,), "b")


def set_numpy_state(rules, array, state):
    """Gives the array of numpy_empty() what the file says, once."""
    version, shape, dtype, fortran, data = expect(state, tuple, "the state of an array")
    _plain(dtype)
    if version != 1 or array.size or type(fortran) is not bool:
        raise ValueError("the state of an array is another one than numpy writes")
    if type(data) is not bytes or len(data) != _elements(shape) * dtype.itemsize:
        raise ValueError(f"an array of the shape {shape} has other data than {dtype} needs")
    rules.budget(len(data))
    array.__setstate__((1, shape, dtype, fortran, data))


def numpy_from_buffer(rules, data, dtype, shape, order, *axes):
    import numpy

    _plain(dtype)
    if type(data) not in (bytes, bytearray) or order not in ("C", "F") or axes or \
            len(data) != _elements(shape) * dtype.itemsize:
        raise ValueError(f"an array of the shape {shape} has other data than {dtype} needs")
    rules.budget(len(data))
    return numpy.frombuffer(bytearray(data), dtype).reshape(shape, order=order)


def numpy_scalar(rules, dtype, data):
    import numpy

    _plain(dtype)
    if type(data) is not bytes or len(data) != dtype.itemsize:
        raise ValueError(f"a number of {dtype} has other data than it needs")
    rules.budget(len(data))
    return numpy.frombuffer(data, dtype)[0]


def numpy_dtype(rules, name, align=False, copy=True):
    import numpy

    if not _NUMPY_DTYPE.fullmatch(expect(name, str, "the name of the dtype")):
        raise TypeError(f"the elements are {name!r}; expected numbers or texts: objects and "
                        "records of numpy need weights_only=False")
    return numpy.dtype(name, False, True)


def set_numpy_dtype_state(rules, dtype, state):
    """Takes the order of bytes."""
    expect(state, tuple, "the state of a dtype")
    plain = len(state) == 8 and state[0] == 3 and state[1] in ("<", ">", "|", "=") and \
        state[2] is state[3] is state[4] is None and \
        all(type(n) is int for n in state[5:]) and state[5] in (-1, dtype.itemsize)
    if not plain:
        raise TypeError(f"the state of a dtype is {state!r}; expected that of numbers or texts")
    dtype.__setstate__(state)

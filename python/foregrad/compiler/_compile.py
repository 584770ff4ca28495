"""compile(): a function that captures itself on its first call and runs what it captured."""

import copy
import functools
import struct
import sys
import threading
import warnings
import weakref

from foregrad import _C
from foregrad.compiler import _tree
from foregrad.compiler._numbers import TracedFloat
from foregrad.compiler._sources import Changed, Snapshot

Tensor = _C.Tensor
MAX_VERSIONS = 8


class CaptureError(RuntimeError):
    """A function cannot be captured; it can still run eagerly."""


class Counters:
    """How often functions were captured, ran as captured code, or eagerly and why."""

    captured = property(lambda self: _C.capture_counters()[0])
    calls = property(lambda self: _C.capture_counters()[1])
    eager = property(lambda self: _C.capture_counters()[2])
    reasons = property(lambda self: _C.capture_counters()[3])
    interpreted = property(lambda self: _C.capture_counters()[4])

    def __repr__(self):
        return (f"Counters(captured={self.captured}, calls={self.calls}, eager={self.eager}, "
                f"interpreted={self.interpreted}, reasons={self.reasons})")


counters = Counters()


class _Entry:
    """A version with the state of Python that it was captured with."""

    __slots__ = ("snapshot", "version", "result", "same", "lifted", "guards")


class Compiled:
    """The versions of one function."""

    def __init__(self, function, fullgraph=False, forward=None, backward=None,
                 partition="default"):
        self.function = function
        self.fullgraph = fullgraph
        self.forward, self.backward, self.partition = forward, backward, partition
        self.entries = {}  # by structure of the arguments
        self.floats_are_constant = False
        self.changed = ""  # what differed from the versions that are there
        self.refused = None  # why it runs eagerly from now on
        self.lock = threading.RLock()
        self._captured_function = function  # what another function that calls this one reads

    def __call__(self, *args, **kwargs):
        if _C.is_capturing():
            return self.function(*args, **kwargs)
        if self.refused:
            _C.count_eager(self.refused)
            return self.function(*args, **kwargs)
        tensors, floats, objects = [], [], []
        tree = _tree.flatten((args, kwargs), tensors, floats, objects)
        unique, places = _unique(tensors)
        constants = struct.pack(f"{len(floats)}d", *floats) if self.floats_are_constant else b""
        key = (tree, tuple(places), constants)
        inputs = unique if self.floats_are_constant else unique + [
            _C.number_tensor(value) for value in floats]
        entry = self.find(key, inputs)
        if entry is None:
            with self.lock:
                entry = self.find(key, inputs) or self.capture(
                    (args, kwargs), key, inputs, objects, bool(floats))
            if entry is None:
                return self(*args, **kwargs) if self.retry() else self.function(*args, **kwargs)
        _C.count_call()
        entry, inputs = entry
        return entry.result(entry.version(inputs))

    @property
    def count(self):
        """How many versions there are."""
        return sum(len(entries) for entries in self.entries.values())

    def find(self, key, inputs):
        for entry in self.entries.get(key, ()):
            try:
                found = entry.snapshot.read_again()
            except Changed as changed:
                self.changed = str(changed)
                continue
            if _same_objects(inputs, found) != entry.same:
                self.changed = "other arguments are the very tensors that the function reads"
                continue
            self.changed = entry.guards.difference(found)
            if self.changed:
                continue
            given = inputs + [found[i] for i in entry.lifted]
            if entry.version.matches(given):
                return entry, given
            self.changed = entry.version.difference(given)
        return None

    def retry(self):
        again, self.again = getattr(self, "again", False), False
        return again

    def capture(self, arguments, key, inputs, objects, has_floats):
        if len(self.entries.get(key, ())) >= MAX_VERSIONS or len(self.entries) >= MAX_KEYS:
            self.refuse(f"{_name(self.function)} was captured {MAX_VERSIONS} times and the call "
                        f"differs again: {self.changed or 'other constants'}; it runs eagerly from "
                        "now on")
            return None
        entry = _Entry()
        try:
            self.make(entry, arguments, inputs, objects)
        except Exception as error:
            if not self.floats_are_constant and has_floats:
                self.floats_are_constant = self.again = True
                return None
            if self.fullgraph:
                raise
            self.refuse_call(error)
            return None
        _C.count_capture()
        self.entries.setdefault(key, []).append(entry)
        for thing in objects:  # their identity is part of the key
            _forget_with(thing, self.entries, key)
        found = entry.snapshot.tensors
        entry.snapshot.settle()
        return entry, inputs + [found[i] for i in entry.lifted]

    def make(self, entry, arguments, inputs, objects):
        entry.snapshot = Snapshot([self.function, *objects])
        found = entry.snapshot.tensors
        entry.same = _same_objects(inputs, found)
        entry.guards = _C.TensorGuards(found)  # a shape may be read without the tensor being used
        results = []
        body = _Body(self, arguments, results)
        types = [type(tensor) for tensor in inputs]
        _check_types(inputs)
        try:
            entry.version = _C.Version(body, inputs, types, [], _Lift(found), self.forward,
                                       self.backward, self.partition)
            entry.lifted = list(entry.version.lifted)
            if entry.snapshot.holds_abstract():
                raise CaptureError("the function keeps a tensor in an attribute, a variable or a "
                                   "container; return it")
        except BaseException:
            entry.snapshot.restore()
            raise
        entry.result = _Rebuild(results[0])

    def refuse_call(self, error):
        """What capture refuses runs eagerly; said once, with the line that stood in the way."""
        self.refuse(f"{_name(self.function)} runs eagerly: {error}{_line_of(error)}")

    def refuse(self, why):
        if self.fullgraph:
            raise CaptureError(why)
        self.refused = why
        if _C.count_eager(why):
            warnings.warn(why, stacklevel=_caller_level())


_PACKAGE = __file__.rsplit("compiler", 1)[0]


def _caller_level():
    """How far up the stack the user's own code is."""
    level, frame = 2, sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


def _line_of(error):
    """Where in the user's code an exception was raised."""
    line, traceback = "", error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith(_PACKAGE):
            line = f" ({file}:{traceback.tb_lineno})"
        traceback = traceback.tb_next
    return line


def _name(function):
    return getattr(function, "__qualname__", type(function).__qualname__)


MAX_KEYS = 256  # structures and constants of arguments


def _forget_with(thing, entries, key):
    """Drops the versions of an object when the object goes."""
    try:
        weakref.finalize(thing, entries.pop, key, None).atexit = False
    except TypeError:  # it cannot be watched: it is kept, so that its identity stays its own
        entries[key][0].snapshot.kept = thing


def _same_objects(inputs, found):
    """For each tensor that the function reads: where the very same one is, first."""
    places = {}
    for i, tensor in enumerate(inputs):
        places.setdefault(id(tensor), i)
    return tuple([places.setdefault(id(tensor), len(inputs) + i)
                  for i, tensor in enumerate(found)])


def _check_types(tensors):
    for tensor in tensors:
        kind = type(tensor)
        if kind is not Tensor and kind.__module__ != "foregrad.nn.parameter":
            raise CaptureError(f"an argument is a {kind.__name__}, a subclass of Tensor, which is "
                               "not captured yet")
        if getattr(tensor, "__dict__", None):
            raise CaptureError("an argument has attributes of its own, which are not captured yet")


def _unique(tensors):
    """Each tensor once, and where each of the given ones is among them."""
    unique, places, known = [], [], {}
    for tensor in tensors:
        place = known.setdefault(id(tensor), len(unique))
        if place == len(unique):
            unique.append(tensor)
        places.append(place)
    return unique, places


class _Lift:
    """Names a tensor that the function reached by itself: its place among those found."""

    def __init__(self, tensors):
        self.tensors = tensors

    def __call__(self, tensor, exactly):
        for i, candidate in enumerate(self.tensors):
            if candidate is tensor:
                return i, "", tensor
        if exactly:
            return None
        for i, candidate in enumerate(self.tensors):
            if _C.same_storage(candidate, tensor):
                return i, "", candidate
        raise CaptureError(
            "a tensor is used that is neither an argument nor found in a variable or attribute "
            "that the function reads; pass it as an argument")


_PLAIN = (int, float, bool, str, bytes, complex, type(None), _C.dtype, _C.Size, slice, type)


def _leaves(tree):
    found = []
    _tree.map_leaves(tree, found.append)
    return found


class _Body:
    """The function of a list of tensors that is captured."""

    def __init__(self, owner, arguments, results):
        self.owner, self.arguments, self.results = owner, arguments, results

    def __call__(self, inside):
        constant = self.owner.floats_are_constant
        tensors, floats = [], []
        _tree.flatten(self.arguments, tensors, floats, [])
        unique, places = _unique(tensors)
        number = iter(inside[len(unique):])
        place = iter(places)

        def replace(leaf):
            if isinstance(leaf, Tensor):
                return inside[next(place)]
            if type(leaf) is float and not constant:
                return TracedFloat(next(number))
            return leaf

        arguments = _tree.map_leaves(self.arguments, replace)
        before = _tree.flatten(arguments, [], [], []), _leaves(arguments)
        args, kwargs = arguments
        result = self.owner.function(*args, **kwargs)
        if before[0] != _tree.flatten(arguments, [], [], []) or any(
                a is not b for a, b in zip(before[1], _leaves(arguments))):
            raise CaptureError("the function changes a list or dictionary that is an argument; "
                               "return a new one")
        outputs = []

        def keep(leaf):
            if type(leaf) is TracedFloat:
                leaf._ask()
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


class _Rebuild:
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


class CompiledObject:
    """An object whose calls are captured; everything else is that of the object."""

    def __init__(self, original, compiled):
        object.__setattr__(self, "_orig_mod", original)
        object.__setattr__(self, "_compiled", compiled)

    def __call__(self, *args, **kwargs):
        return self._compiled(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        setattr(self._orig_mod, name, value)

    def __repr__(self):
        return f"compiled({self._orig_mod!r})"

    def __deepcopy__(self, memo):
        compiled = self._compiled
        original = copy.deepcopy(self._orig_mod, memo)
        return CompiledObject(original, Compiled(original, compiled.fullgraph, compiled.forward,
                                                 compiled.backward, compiled.partition))

    @property
    def _captured_function(self):
        return self._orig_mod


# PyTorch's names of back ends that do what ours do.
_LIKE_PYTORCH = {"inductor": "default", "eager": "interpreter", "aot_eager": "interpreter"}


def _backends(backend):
    """The compilers of forward and backward."""
    backend = _LIKE_PYTORCH.get(backend, backend) if isinstance(backend, str) else backend
    if isinstance(backend, str):
        _C.check_backend(backend)
    return backend, backend


def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None,
            disable=False):
    """Makes a function, a method or an object with `forward` run as captured code.

    The first call with arguments of a kind captures the function; later calls run what was
    captured. What cannot be captured runs eagerly, with one warning, unless fullgraph is True.
    backend: 'native' (compiled code, the default), 'interpreter' (the eager kernels one by one), or
    a compiler as aot_function takes it.
    """
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend,
                                 mode=mode, options=options, disable=disable)
    if disable:
        return model
    if hasattr(model, "forward") and not isinstance(model, type) and callable(model):
        return CompiledObject(model, Compiled(model, fullgraph, *_backends(backend)))
    if not callable(model):
        raise TypeError(f"compile: expected a function or an object with forward, got "
                        f"{type(model).__name__}")
    compiled = Compiled(model, fullgraph, *_backends(backend))

    @functools.wraps(model)
    def wrapper(*args, **kwargs):
        return compiled(*args, **kwargs)

    wrapper.compiled = compiled
    wrapper._captured_function = model
    return wrapper

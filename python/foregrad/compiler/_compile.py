"""compile(): a function that captures itself on its first call and runs what it captured."""

import copy
import functools
import sys
import threading
import warnings
import weakref

from foregrad import _C
from foregrad.compiler import _tree
from foregrad.compiler._body import Body, CaptureError, Lift, Rebuild, each_once
from foregrad.compiler._names import as_text, input_names, object_names
from foregrad.compiler._numbers import Fixed
from foregrad.compiler._sources import Changed, Snapshot

Tensor = _C.Tensor
MAX_VERSIONS = 8


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
        self.fixed = Fixed()  # floats among the arguments that are constants
        self.moving, self.asked = set(), set()  # places of other floats: inputs, and constants
        self.changed = ""  # what differed from the versions that are there
        self.changed_places = []
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
        unique, places = each_once(tensors)
        numbers, constants = self.fixed.split(tree, floats)
        key = (tree, tuple(places), constants)
        inputs = unique + numbers
        entry = self.find(key, inputs)
        if entry is None:
            with self.lock:
                entry = self.find(key, inputs) or self.capture(
                    (args, kwargs), key, inputs, objects, len(floats))
            if entry is None:
                return self(*args, **kwargs) if self.retry() else self.function(*args, **kwargs)
        _C.count_call()
        entry, inputs = entry
        return entry.result(entry.version(inputs))

    @property
    def count(self):
        """How many versions there are."""
        return sum(len(entries) for entries in self.entries.values())

    def _versions(self):
        return [entry for entries in self.entries.values() for entry in entries]

    def graphs(self):
        """The graphs of all versions by name: 'forward', 'backward', ..., 'version 2: forward'."""
        found = {}
        for i, entry in enumerate(self._versions()):
            for title, graph in entry.version.graphs():
                found[title if i == 0 else f"version {i + 1}: {title}"] = graph
        return found

    def explain(self, path=None):
        """A page of HTML about what was compiled, and where its time and memory go.

        It is written to `path` if there is one, and returned otherwise. Everything is compiled
        once more and measured with inputs of its own: that takes about as long as compiling did.
        """
        with self.lock:
            versions = [(entry.version, _conditions(entry)) for entry in self._versions()]
        note = self.refused or ("" if versions else "It was not called yet.")
        if versions and self.forward not in (None, "native", "default"):
            note = "It runs through another backend: what follows is what native code would do."
        page = _C.explain(_name(self.function), note, versions)
        if path is None:
            return page
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def find(self, key, inputs):
        self.changed_places = []
        for entry in self.entries.get(key, ()):
            try:
                found, floats = entry.snapshot.read_again()
            except Changed as changed:
                self.changed = str(changed)
                self.changed_places.append(changed.place)
                continue
            if _same_objects(inputs, found) != entry.same:
                self.changed = "other arguments are the very tensors that the function reads"
                continue
            self.changed = entry.guards.difference(found)
            if self.changed:
                continue
            given = inputs + [_C.number_tensor(value) for value in floats]
            given += [found[i] for i in entry.lifted]
            if entry.version.matches(given):
                return entry, given
            self.changed = entry.version.difference(given)
        return None

    def retry(self):
        again, self.again = getattr(self, "again", False), False
        return again

    def capture(self, arguments, key, inputs, objects, floats):
        if len(self.entries.get(key, ())) >= MAX_VERSIONS or len(self.entries) >= MAX_KEYS:
            self.refuse(f"{_name(self.function)} was captured {MAX_VERSIONS} times and the call "
                        f"differs again: {self.changed or 'other constants'}; it runs eagerly from "
                        "now on")
            return None
        entry = _Entry()
        self.moving |= {place for place in self.changed_places if place} - self.asked
        try:
            _C.take_asked_inputs()
            numbers = self.make(entry, arguments, inputs, objects, key[0])
        except Exception as error:
            if self.learn(key[0], floats, len(inputs)):
                self.again = True
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
        return entry, inputs + numbers + [found[i] for i in entry.lifted]

    def learn(self, tree, floats, inputs):
        """Whether a capture that failed may succeed if more floats are constants."""
        asked = _C.take_asked_inputs()
        fixed = self.fixed.get(tree, ())
        arguments = inputs - floats + len(fixed)  # that are tensors
        moved = [i for i in asked if i >= inputs]
        if self.moving and (moved or not asked):
            gone = {self.order[i - inputs] for i in moved} or set(self.moving)
            self.moving -= gone
            self.asked |= gone
            return True
        return self.fixed.learn(tree, floats, [i - arguments for i in asked if i >= arguments])

    def make(self, entry, arguments, inputs, objects, tree=None):
        names = {id(thing): name for thing, name in object_names(self.function, arguments)}
        entry.snapshot = Snapshot([self.function, *objects], self.moving, names)
        found, floats = entry.snapshot.read_again()
        self.order = list(entry.snapshot.places)
        numbers = [_C.number_tensor(value) for value in floats]
        inputs = inputs + numbers
        entry.same = _same_objects(inputs, found)
        entry.guards = _C.TensorGuards(found)  # a shape may be read without the tensor being used
        results = []
        body = Body(self, arguments, results, entry.snapshot.places)
        types = [type(tensor) for tensor in inputs]
        _check_types(inputs)
        try:
            names = input_names(self.function, arguments, self.fixed.get(tree, ()),
                                entry.snapshot.float_names)
            lift = Lift(found, entry.snapshot.tensor_names)
            entry.version = _C.Version(body, inputs, types, names, lift, self.forward,
                                       self.backward, self.partition)
            entry.lifted = list(entry.version.lifted)
            if _C.asked_inputs():  # and the function caught the exception
                raise CaptureError("the value of a float is asked for while it is captured")
            if entry.snapshot.holds_abstract():
                raise CaptureError("the function keeps a tensor in an attribute, a variable or a "
                                   "container; return it")
        except BaseException:
            entry.snapshot.restore()
            raise
        entry.result = Rebuild(results[0])
        return numbers

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


def _conditions(entry):
    """When Python uses a version, beside what its tensors must look like."""
    names = sorted(set(entry.snapshot.tensor_names))
    found = ["numbers, texts and objects that the function reads are what they were"]
    if names:
        found.append("tensors that it reads by itself: " + ", ".join(map(as_text, names)))
    return found


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


class CompiledObject:
    """An object whose calls are captured; everything else is that of the object."""

    def __init__(self, original, compiled):
        object.__setattr__(self, "_orig_mod", original)
        object.__setattr__(self, "_compiled", compiled)

    def __call__(self, *args, **kwargs):
        return self._compiled(*args, **kwargs)

    def explain(self, path=None):
        return self._compiled.explain(path)

    def graphs(self):
        return self._compiled.graphs()

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
    wrapper.explain, wrapper.graphs = compiled.explain, compiled.graphs
    wrapper._captured_function = model
    return wrapper

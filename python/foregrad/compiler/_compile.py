"""compile(): makes a callable that captures a function at its first call and runs the capture."""

import functools
import os
import struct
import sys
import types
import warnings
import weakref
from _thread import RLock  # threading, which has it too, takes longer to load

from foregrad import _C
from foregrad.compiler._backward_state import BackwardState
from foregrad.compiler._body import Body, CaptureError, Lift
from foregrad.compiler._config import config
from foregrad.compiler._counters import counters  # noqa: F401
from foregrad.compiler._known import is_followed
from foregrad.compiler._names import input_names, object_names
from foregrad.compiler._numbers import Fixed
from foregrad.compiler._sources import Snapshot
from foregrad.compiler._stores import After
from foregrad.compiler._watch import Watch

Tensor = _C.Tensor
# Conditions under which Python uses a version, beside the guards on tensors.
CONDITIONS = ["numbers, texts and objects that the function reads are what they were"]


class Call:
    """A call that no version fits: the structure, inputs and key for a new version."""

    def __init__(self, args, kwargs, fixed):
        self.arguments = args, kwargs
        self.given = _C.Arguments(*args, **kwargs)
        self.structure = self.given.structure()
        self.fixed = fixed.get(self.structure, ())  # places of the floats that are constants
        floats = list(enumerate(self.given.floats))
        constants = [value for i, value in floats if i in self.fixed]
        self.inputs = self.given.tensors
        self.inputs += [_C.number_tensor(value) for i, value in floats if i not in self.fixed]
        self.key = (self.structure, tuple(self.given.places),
                    struct.pack(f"{len(constants)}d", *constants))  # NaN and both zeros


_everything = weakref.WeakSet()  # of Compiled


def reset():
    """Forgets all compiled code of this process, and counts anew; the cache stays as it is.

    Functions are captured again when they are called next. A call whose backward is still to come
    keeps its code.
    """
    for compiled in list(_everything):
        compiled.forget()
    _C.reset_counters()
    _C.cache_reset_stats()


class CaptureAgain(Exception):
    """Asks for a second capture: the function ran code that the snapshot had not looked into."""


class Compiled:
    """The versions of one function, and how more of them are made.

    callable_of() makes the callable that finds the version of a call and runs it. It calls `miss`
    when no version fits, and the function itself as soon as `refused` is set.
    """

    def __init__(self, function, fullgraph=False, forward=None, backward=None,
                 partition="default", inference=None):
        self.function = function
        self.fullgraph = fullgraph
        self.forward, self.backward, self.partition = forward, backward, partition
        self.inference = inference  # the compiler of calls without gradients; None: forward
        self.entries = []
        self.refused = None  # why it runs eagerly from now on
        self.fixed = Fixed()  # floats among the arguments that are constants
        # Functions that it calls unseen by the snapshot, and names that their code mentions.
        self.followed, self.mentioned = [], set()
        self.grown = []  # lists that it does nothing with but append to them
        self.moving, self.asked = set(), set()  # places of other floats: inputs, and constants
        self.changed = ""  # the difference of the last miss from the versions
        self.changed_places = []
        self.fills = 0  # captures in which functools.lru_cache kept something new
        self.lock = RLock()
        self.callable = lambda: None  # weak reference to the result of callable_of()
        _everything.add(self)

    def forget(self):
        """Forgets all versions, and everything learned from them."""
        with self.lock:
            del self.entries[:]
            self.refused, self.changed, self.changed_places = None, "", []
            for learned in (self.fixed, self.moving, self.asked, self.mentioned, self.followed,
                            self.grown):
                learned.clear()
            if (made := self.callable()) is not None:
                made._refused = None

    def miss(self, *args, **kwargs):
        """Handles a call for which no version was found."""
        found = None
        while found is None:
            with self.lock:
                if self.refused:  # by another thread
                    _C.count_eager(self.refused)
                    break
                call = Call(args, kwargs, self.fixed)
                found = self.find(call) or self.capture(call)
            if found is None and not self.retry():
                break
        if found is None:
            return self.function(*args, **kwargs)
        entry, inputs = found
        return entry(inputs)

    @property
    def options(self):
        """The options that it was made with."""
        return {"fullgraph": self.fullgraph, "forward": self.forward, "backward": self.backward,
                "partition": self.partition, "inference": self.inference}

    @property
    def versions(self):
        """All versions, as a list."""
        return [entry.version for entry in self.entries]

    def graphs(self):
        """The graphs of all versions by name: 'forward', 'backward', ..., 'version 2: forward'."""
        found = {}
        for i, version in enumerate(self.versions):
            for title, graph in version.graphs():
                found[title if i == 0 else f"version {i + 1}: {title}"] = graph
        return found

    def explain(self, path=None):
        """A page of HTML about the compiled code, its time and its memory.

        It is written to `path` if there is one, and returned otherwise. Everything is compiled
        once more and measured with inputs of its own: that takes about as long as compiling did.
        """
        with self.lock:
            versions = [(version, CONDITIONS) for version in self.versions]
        note = self.refused or ("" if versions else "It was not called yet.")
        if versions and self.forward not in (None, "native", "default"):
            note = "It runs through another backend: what follows is what native code would do."
        page = _C.explain(_name(self.function), note, versions)
        if path is None:
            return page
        # A pipe without a reader is an error at once.
        with open(path, "w", encoding="utf-8",
                  opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK, 0o666)) as file:
            os.set_blocking(file.fileno(), True)
            file.write(page)

    def find(self, call):
        """A version that another thread made meanwhile; else notes what differs from each."""
        self.changed_places = []
        for entry in list(self.entries):
            answer = entry.look(call.given)
            if answer is None:
                continue
            inputs, self.changed, place = answer
            if inputs is not None:
                return entry, inputs
            self.changed_places.append(place)
        return None

    def retry(self):
        again, self.again = getattr(self, "again", False), False
        return again

    def capture(self, call):
        keys, most = [entry.key for entry in self.entries], config.max_versions
        if keys.count(call.key) >= most or len(set(keys)) >= MAX_KEYS:
            self.refuse(f"{_name(self.function)} was captured {most} times and the call "
                        f"differs again: {self.changed or 'other constants'}; it runs eagerly from "
                        "now on")
            return None
        self.moving |= {place for place in self.changed_places if place} - self.asked
        try:
            _C.take_asked_inputs()
            entry, inputs = self.make(call)
        except _C.CacheError:  # in strict mode
            raise
        except Exception as error:
            if isinstance(error, CaptureAgain) or self.learn(call):
                self.again = True
                return None
            if self.fullgraph:
                raise
            self.refuse_call(error)
            return None
        _C.count_capture()
        self.entries.append(entry)
        for thing in call.given.objects:  # their identity is part of the key
            _forget_with(thing, self.entries, entry)
        return entry, inputs

    def learn(self, call):
        """Whether a capture that failed may succeed if more floats are constants."""
        asked = _C.take_asked_inputs()
        inputs, arguments = len(call.inputs), len(call.given.tensors)
        moved = [i for i in asked if i >= inputs]
        if self.moving and (moved or not asked):
            gone = {self.order[i - inputs] for i in moved} or set(self.moving)
            self.moving -= gone
            self.asked |= gone
            return True
        return self.fixed.learn(call.structure, len(call.given.floats),
                                [i - arguments for i in asked if i >= arguments])

    def snapshot(self, call):
        """A snapshot of everything that the function reads beside its arguments."""
        names = {id(thing): name for thing, name in object_names(self.function, call.arguments)}
        roots = [self.function, *call.given.objects, *self.followed]
        snapshot = Snapshot(roots, self.moving, names, self.mentioned, self.grown)
        self.order = list(snapshot.places)
        return snapshot

    def make(self, call):
        """A version for a call, and the inputs that the call gives it."""
        snapshot = self.snapshot(call)
        inputs = call.inputs + [_C.number_tensor(value) for value in snapshot.floats]
        entry = _C.Entry(call.key, sorted(call.fixed), snapshot.reads, call.given.tensors,
                         snapshot.tensors)
        _check_types(inputs)
        try:
            version, result, stores = self.trace(call, inputs, snapshot, _C.Version)
            if snapshot.places and version.runs_code_of_user:
                # The user's code may read those floats, with later values, when it is traced.
                raise CaptureError("a float changes that a backward or a hook may read")
            if _C.asked_inputs():  # and the function caught the exception
                raise CaptureError("the value of a float is asked for while it is captured")
            if snapshot.holds_abstract():
                raise CaptureError("the function keeps a tensor in an attribute, a variable or a "
                                   "container; return it")
            self.check_effects(snapshot)
            inputs = inputs + [snapshot.tensors[i] for i in version.lifted]
            state = None
            if version.runs_code_of_user:
                state = self.check_gradient(call, version, inputs)
        except BaseException:
            snapshot.restore()
            raise
        entry.finish(version, result, After(stores) if stores else None, state)
        return entry, inputs

    @staticmethod
    def check_effects(snapshot):
        """Refuses changes of older objects that cannot be repeated after every call."""
        try:
            snapshot.check_as_before()
        except RuntimeError as error:
            raise CaptureError("the function, or a backward or a hook, changes what the function "
                               f"reads in a way that is not captured ({error}); return it "
                               "instead, or keep it in a tensor") from None

    def check_gradient(self, call, version, inputs):
        """Refuses backwards and hooks that change values which they, or the function, read; returns
        the BackwardState of their own reads, or None."""
        before = self.snapshot(call)
        with Watch(before) as watch:
            version.check_gradient(inputs)
        try:
            before.reads.again()
        except RuntimeError as error:
            raise CaptureError("a backward or a hook changes what the function reads "
                               f"({error}); return it instead, or keep it in a tensor") from None
        reads = before.reads_by(watch.codes())
        return BackwardState(_name(self.function), reads) if reads else None

    def cache_key(self, *args, **kwargs):
        """The key under which the cache has, or would have, the forward of a call."""
        with self.lock:
            while True:
                call = Call(args, kwargs, self.fixed)
                try:
                    _C.take_asked_inputs()
                    return self.make_key(call)
                except CaptureAgain:
                    continue
                except _C.CacheError:
                    raise
                except Exception:
                    if not self.learn(call):
                        raise

    def make_key(self, call):
        snapshot = self.snapshot(call)
        inputs = call.inputs + [_C.number_tensor(value) for value in snapshot.floats]
        _check_types(inputs)
        try:
            return self.trace(call, inputs, snapshot, _C.Version.cache_key)[0]
        finally:
            snapshot.restore()

    def trace(self, call, inputs, snapshot, make):
        results = []
        body = Body(self.function, call, results, snapshot)
        names = input_names(self.function, call.arguments, call.fixed, snapshot.float_names)
        with Watch(snapshot) as watch:
            made = make(body, inputs, [type(tensor) for tensor in inputs], names,
                        Lift(snapshot.tensors, snapshot.tensor_names), self.forward,
                        self.backward, self.inference, self.partition)
        more, names = watch.missed(), watch.mentioned()
        if watch.remembered() and self.fills < MAX_FILLS:
            self.fills += 1
            raise CaptureAgain
        if more or watch.loaded() or (names and snapshot.finds_more(names)):
            self.followed += more
            self.mentioned |= names
            raise CaptureAgain
        if grown := watch.grown(body.stores):
            self.grown += grown
            raise CaptureAgain
        return made, results[0], body.stores

    def refuse_call(self, error):
        """Lets the function run eagerly from now on; warns once, with the line that was refused."""
        self.refuse(f"{_name(self.function)} runs eagerly: {error}{_line_of(error)}")

    def refuse(self, why):
        if self.fullgraph:
            raise CaptureError(why)
        self.refused = why
        if _C.count_eager(why):
            warnings.warn(why, stacklevel=_caller_level())


_PACKAGE = __file__.rsplit("compiler", 1)[0]


def _caller_level():
    """The number of frames up the stack to the user's own code."""
    level, frame = 2, sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


def _line_of(error):
    """The line of the user's code that raised an exception, as ' (file:line)'."""
    line, traceback = "", error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if is_followed(file):
            line = f" ({file}:{traceback.tb_lineno})"
        traceback = traceback.tb_next
    return line


def _name(function):
    return getattr(function, "__qualname__", type(function).__qualname__)


MAX_FILLS = 4
MAX_KEYS = 256  # structures and constants of arguments


def _forget_with(thing, entries, entry):
    """Drops a version for an object when the object goes."""
    try:
        weakref.finalize(thing, _forget, entries, entry.key).atexit = False
    except TypeError:  # it cannot be watched: it is kept, so that its identity stays its own
        entry.keep(thing)


def _forget(entries, key):
    entries[:] = [entry for entry in entries if entry.key is not key]


def _check_types(tensors):
    for tensor in tensors:
        kind = type(tensor)
        if kind is not Tensor and kind.__module__ != "foregrad.nn.parameter":
            raise CaptureError(f"an argument is a {kind.__name__}, a subclass of Tensor, which is "
                               "not captured yet")
        if getattr(tensor, "__dict__", None):
            raise CaptureError("an argument has attributes of its own, which are not captured yet")


def callable_of(compiled):
    """The callable that replaces a function, with its name and documentation."""
    function = compiled.function
    updated = functools.WRAPPER_UPDATES if isinstance(function, types.FunctionType) else ()
    made = functools.update_wrapper(_C.compiled_function(compiled), function, updated=updated)
    made.compiled = compiled
    compiled.callable = weakref.ref(made)
    made.explain, made.graphs = compiled.explain, compiled.graphs
    made.cache_key = compiled.cache_key
    made._captured_function = function  # read when another captured function calls this one
    return made


# PyTorch's names of backends, and ours that do the same.
_LIKE_PYTORCH = {"inductor": "default", "eager": "interpreter", "aot_eager": "interpreter"}


def _backends(backend):
    """The compilers of forward and backward."""
    backend = _LIKE_PYTORCH.get(backend, backend) if isinstance(backend, str) else backend
    if isinstance(backend, str):
        _C.check_backend(backend)
    return backend, backend


_MODES = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def _check_options(dynamic, mode, options):
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified "
                           "at the same time.")
    if dynamic:
        raise NotImplementedError("compile: dynamic=True is not here yet: every new size is a "
                                  "version of its own; leave it out")
    if mode not in _MODES:
        raise RuntimeError(f"compile: unrecognized mode {mode!r}; expected one of {_MODES[1:]}, "
                           "which all mean the same here")
    if options:
        raise RuntimeError(f"compile: unexpected option {next(iter(options))!r}; there are none "
                           "here, see foregrad.compiler.config")


def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None,
            disable=False):
    """Makes a function, a method or an object with `forward` run as captured code.

    The first call with arguments of a kind captures the function; later calls run the captured
    code. A function that cannot be captured runs eagerly, with one warning, unless fullgraph is
    True.
    backend: 'native' (compiled code, the default), 'interpreter' (the eager kernels one by one), or
    a compiler as aot_function takes it.
    dynamic: None or False, because every new size is a version of its own. mode: any name of
    PyTorch's; all mean the one way to compile. options: none are known.
    """
    _check_options(dynamic, mode, options)
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend,
                                 mode=mode, options=options, disable=disable)
    if disable:
        return model
    if hasattr(model, "forward") and not isinstance(model, type) and callable(model):
        compiled = Compiled(model, fullgraph, *_backends(backend))
        from foregrad.compiler._module import object_of
        return object_of(model, callable_of(compiled))
    if not callable(model):
        raise TypeError(f"compile: expected a function or an object with forward, got "
                        f"{type(model).__name__}")
    return callable_of(Compiled(model, fullgraph, *_backends(backend)))

"""compile(): makes a callable that captures a function at its first call and runs the capture."""

import functools
import os
import sys
import types
import warnings
import weakref
from _thread import RLock  # threading, which has it too, takes longer to load

from foregrad import _C
from foregrad.compiler._backward_state import BackwardState
from foregrad.compiler._body import Body, CaptureError, Lift
from foregrad.compiler._call import Call
from foregrad.compiler._config import config
from foregrad.compiler._counters import counters  # noqa: F401
from foregrad.compiler._known import is_followed
from foregrad.compiler._names import input_names
from foregrad.compiler._sources import Snapshot
from foregrad.compiler._stores import After
from foregrad.compiler._watch import Watch

Tensor = _C.Tensor
# Conditions under which Python uses a version, beside the guards on tensors.
CONDITIONS = ["numbers, texts and objects that the function reads are what they were"]
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
    """Asks for a second capture: of more code than the snapshot had looked into, or with other
    floats as constants."""


class Compiled:
    """The versions of one function, and how more of them are made.

    callable_of() makes the callable that finds the version of a call and runs it. It calls `miss`
    when no version fits, and the function itself as soon as `policy` has refused it. The policy
    decides about captures; it knows structures of arguments and places of floats by their numbers.
    """

    def __init__(self, function, fullgraph=False, forward=None, backward=None,
                 partition="default", inference=None):
        self.function = function
        self.fullgraph = fullgraph
        self.policy = _C.VersionPolicy(_name(function), fullgraph)
        self.structures, self.places = {}, {}  # and their numbers
        self.order = []  # numbers of the floats that the last capture had as inputs, no arguments
        self.forward, self.backward, self.partition = forward, backward, partition
        self.inference = inference  # the compiler of calls without gradients; None: forward
        self.entries = []
        # Functions that it calls unseen by the snapshot, and names that their code mentions.
        self.followed, self.mentioned = [], set()
        self.grown = []  # lists that it does nothing with but append to them
        self.changed = ""  # the difference of the last miss from the versions
        self.changed_places = []
        self.lock = RLock()
        _everything.add(self)

    def forget(self):
        """Forgets all versions, and everything learned from them."""
        with self.lock:
            del self.entries[:]
            self.policy.forget()
            self.changed, self.changed_places = "", []
            for learned in (self.structures, self.places, self.mentioned, self.followed,
                            self.grown):
                learned.clear()

    @property
    def refused(self):
        """The reason why it runs eagerly from now on, or None."""
        return self.policy.refusal

    def miss(self, given, args, kwargs):
        """Handles a call for which no version was found; `given` are the flattened arguments."""
        found, call = None, Call(given, args, kwargs)
        while found is None:
            with self.lock:
                if self.policy.runs_eagerly():  # another thread refused it
                    break
                call.fix(self.constants_of(call))
                try:
                    found = self.find(call) or self.capture(call)
                except CaptureAgain:
                    continue
            if found is None:
                break
        if found is None:
            return self.function(*args, **kwargs)
        entry, inputs = found
        return entry(inputs)

    def constants_of(self, call):
        """Places of the floats among the arguments of a call that are constants."""
        number = self.structures.get(call.structure)
        return self.policy.constants(number) if number is not None else set()

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

    def capture(self, call):
        """A new version and its inputs; None: the function runs eagerly."""
        keys = [entry.key for entry in self.entries]
        changed = [self.number_of(place) for place in self.changed_places if place]
        decision = self.policy.after_miss(keys.count(call.key), len(set(keys)), self.changed or "",
                                          changed, config.max_versions)
        if not decision.captures:
            return self.refuse(decision)
        try:
            _C.take_asked_inputs()
            entry, inputs = self.make(call)
        except (_C.CacheError, CaptureAgain):  # the former in strict mode
            raise
        except Exception as error:
            decision = self.policy.after_failure(self.inputs_of(call), _C.take_asked_inputs(),
                                                 lambda: f"{error}{_line_of(error)}")
            if decision.again:
                raise CaptureAgain from None
            if decision.raises:
                raise
            return self.refuse(decision)
        _C.count_capture()
        self.entries.append(entry)
        for thing in call.given.objects:  # their identity is part of the key
            _forget_with(thing, self.entries, entry)
        return entry, inputs

    def number_of(self, place):
        return self.places.setdefault(place, len(self.places))

    def inputs_of(self, call):
        """The inputs of the last capture, as the policy knows them."""
        number = self.structures.setdefault(call.structure, len(self.structures))
        return _C.CaptureInputs(number, len(call.given.tensors), len(call.given.floats),
                                self.order)

    def snapshot(self, call):
        """A snapshot of everything that the function reads beside its arguments."""
        objects = call.given.objects
        names = dict(zip(map(id, objects), call.names(self.function)[2]))
        moving = self.policy.moving
        moving = {place for place, number in self.places.items() if number in moving}
        snapshot = Snapshot([self.function, *objects, *self.followed], moving, names,
                            self.mentioned, self.grown)
        self.order = [self.number_of(place) for place in snapshot.places]
        return snapshot

    def make(self, call):
        """A version for a call, and the inputs that the call gives it."""
        snapshot = self.snapshot(call)
        inputs = call.inputs + [_C.number_tensor(value) for value in snapshot.floats]
        entry = _C.GuardedVersion(call.key, sorted(call.fixed), snapshot.reads, call.given.tensors,
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
        call = Call(_C.Arguments(*args, **kwargs), args, kwargs)
        with self.lock:
            while True:
                call.fix(self.constants_of(call))
                try:
                    _C.take_asked_inputs()
                    return self.make_key(call)
                except CaptureAgain:
                    continue
                except _C.CacheError:
                    raise
                except Exception:
                    if not self.policy.learn(self.inputs_of(call), _C.take_asked_inputs()):
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
        names = input_names(call.names(self.function), call.fixed, snapshot.float_names)
        with Watch(snapshot) as watch:
            made = make(body, inputs, [type(tensor) for tensor in inputs], names,
                        Lift(snapshot.tensors, snapshot.tensor_names), self.forward,
                        self.backward, self.inference, self.partition)
        more, names = watch.missed(), watch.mentioned()
        if watch.remembered() and self.policy.allows_refill():
            raise CaptureAgain
        if more or watch.loaded() or (names and snapshot.finds_more(names)):
            self.followed += more
            self.mentioned |= names
            raise CaptureAgain
        if grown := watch.grown(body.stores):
            self.grown += grown
            raise CaptureAgain
        return made, results[0], body.stores

    @staticmethod
    def refuse(decision):
        """Raises the error of a decision, or warns that the function runs eagerly from now on."""
        if decision.raises:
            raise CaptureError(decision.why)
        if decision.is_new:
            warnings.warn(decision.why, stacklevel=_caller_level())


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

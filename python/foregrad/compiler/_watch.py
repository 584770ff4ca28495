"""Watches a function while it is captured: what it calls, and the generators it draws from."""

import functools
import gc
import sys
import types

from foregrad import _C
from foregrad.compiler import _known
from foregrad.compiler._code import (
    appends_only,
    globals_loaded_in,
    names_in,
    reaches_all_in,
    values_loaded,
)

Tensor = _C.Tensor
# Native functions that call their arguments: such calls are not seen.
_HAND_ON = {"map", "filter", "starmap", "reduce", "accumulate", "takewhile", "dropwhile", "groupby",
            "filterfalse", "iter", "sorted", "sort", "min", "max", "defaultdict", "submit",
            "Thread", "apply_along_axis", "vectorize", "frompyfunc", "fromfunction", "sub", "subn"}


class CaptureError(RuntimeError):
    """A function cannot be captured; it can still run eagerly."""


def _judge(function, frame):
    """The verdict on a native call: None: harmless; True: harmless here; an exception: refused."""
    if _known.is_pure(function):
        return None
    if _known.is_made_for_effects(frame):
        return True
    return CaptureError(f"{_known.name_of(function)}() is called, which may give something else at "
                        "every call; call it outside and pass the result as an argument")


def _hands_on(code):
    """Whether code may find a function by a computed name, and let native code call it."""
    return reaches_all_in(code) and not _HAND_ON.isdisjoint(code.co_names)


def _modules_reached(code):
    """Global variables that, if they are modules, code may read without mentioning attributes."""
    named = globals_loaded_in(code)
    return named if "__dict__" in code.co_names else named & set(values_loaded(code))


def _as_bytes(state):
    if isinstance(state, dict):
        return [(name, _as_bytes(part)) for name, part in state.items()]
    return state.tobytes() if hasattr(state, "tobytes") else state


class _Drawn:
    """The state of a generator of Python or numpy before a function is captured."""

    def __init__(self, generator):
        if hasattr(generator, "setstate"):
            self._read, self._write = generator.getstate, generator.setstate
        elif hasattr(generator, "set_state"):  # a RandomState
            self._write = generator.set_state
            self._read = functools.partial(generator.get_state, legacy=False)
        else:
            self._read = functools.partial(getattr, generator.bit_generator, "state")
            self._write = functools.partial(setattr, generator.bit_generator, "state")
        self.before = self._read()

    def changed(self):
        return _as_bytes(self.before) != _as_bytes(self._read())

    def restore(self):
        self._write(self.before)


def _abstract_inside(memory):
    """Whether a functools.lru_cache keeps a tensor of the function that is captured."""
    seen, queue = set(), [(memory, 0)]
    while queue:
        thing, depth = queue.pop()
        if isinstance(thing, Tensor):
            if _C.is_abstract(thing):
                return True
        elif depth < 6 and id(thing) not in seen and not isinstance(thing, (type, type(sys))):
            seen.add(id(thing))
            if not hasattr(thing, "__globals__"):
                queue += [(inner, depth + 1) for inner in gc.get_referents(thing)]
    return False


class Watch:
    """A scope in which a function is captured; `snapshot` has its reads."""

    def __init__(self, snapshot):
        self._snapshot = snapshot
        self._watch = _C.Watch(_judge, _known.counts)
        self._generators = [_Drawn(one) for one in snapshot.generators]
        found = list(map(id, snapshot.generators))
        self._shared = [_Drawn(one) for one in _known.shared_generators() if id(one) not in found]
        self._memories = [(one, one.cache_info().misses) for one in snapshot.memories]
        self._modules = len(sys.modules)

    def __enter__(self):
        self._watch.start()
        return self

    def __exit__(self, kind, error, traceback):
        self._watch.stop()
        drawn = self._drawn()
        kept = [one for one, misses in self._memories
                if one.cache_info().misses != misses and _abstract_inside(one)]
        for one in kept:
            one.cache_clear()
        if error is not None:
            return
        if self._watch.refused is not None:  # and the function caught it
            raise self._watch.refused
        self._refuse_unseen()
        if drawn:
            raise CaptureError("random numbers of Python or numpy are drawn; draw them outside "
                               "and pass them as arguments, or use those of foregrad")
        if kept:
            raise CaptureError("functools.lru_cache keeps a tensor that the function makes; make "
                               "it before and pass it as an argument")

    def _drawn(self):
        """The generators that the function drew from; puts their states back."""
        drawn = [one for one in self._generators if one.changed()]
        for one in drawn:
            one.restore()
        # Other threads may draw from those that all share; code that could do so in a way that is
        # not seen is seldom.
        if any(_hands_on(code) for code in self.codes()):
            shared = [one for one in self._shared if one.changed()]
            alone = len(sys._current_frames()) == 1
            for one in shared if alone else ():
                one.restore()
            drawn += shared
        return drawn

    def _refuse_unseen(self):
        """Calls that native code makes, and calls of what Python cannot look into, are not seen:
        code of the user that runs must not mention such things."""
        unseen, impure = self._snapshot.unseen, self._snapshot.impure | _known.IMPURE_BUILTINS
        for code, variables in self._watch.frames:
            if not _known.is_followed(code.co_filename):
                continue
            names = {*code.co_names, *code.co_freevars}
            if "modules" in names and sys in [variables.get(name) for name in code.co_names]:
                raise CaptureError("sys.modules is read; import a module by its name")
            for name in names & unseen.keys():
                raise CaptureError(f"{unseen[name]} is native, and not known to be the same at "
                                   "every call; call it outside and pass the result")
            if _hands_on(code) and any(map(_known.is_impure_module,
                                           map(variables.get, _modules_reached(code)))):
                raise CaptureError("a function of a module is found by a computed name, and "
                                   "something else may call it; call it by its name")
            if names & impure:
                for name in impure & set(values_loaded(code)):
                    raise CaptureError(f"{name} may give something else at every call, and is used "
                                       "as a value; call it outside and pass the result")

    def remembered(self):
        """Whether a functools.lru_cache called its function: the next time it does not."""
        return any(one.cache_info().misses != misses for one, misses in self._memories)

    def codes(self):
        """Code of the user that ran."""
        return [code for code, _ in self._watch.frames if _known.is_followed(code.co_filename)]

    def grown(self, stores):
        """Lists that code which ran did nothing with but append to them; new ones."""
        found = {id(store.holder): store.holder for store in stores
                 if type(store.holder) is list and id(store.holder) not in self._snapshot.grown}
        return [one for one in found.values()
                if appends_only(self.codes(), self._snapshot.names_of_list(one))]

    def loaded(self):
        """Whether the function imported a module that was not there for the snapshot."""
        return self._snapshot.unloaded and len(sys.modules) > self._modules

    def mentioned(self):
        """Names in code of Python's own library that ran, and that the snapshot did not know."""
        names = set()
        for code, _ in self._watch.frames:
            if _known.is_library(code.co_filename):
                names |= names_in(code)
        return names - self._snapshot.names

    def missed(self):
        """Functions that ran, but are not among what the snapshot has found."""
        missed = [one for one in self._watch.frames
                  if id(one[0]) not in self._snapshot.codes
                  and _known.is_followed(one[0].co_filename) and one[0].co_name != "<module>"]
        for code, _ in missed:
            if code.co_freevars:
                raise CaptureError(f"{code.co_name}() is called in a way that cannot be "
                                   "followed, and has variables of its own; call it by its name")
        return [types.FunctionType(code, variables) for code, variables in missed]

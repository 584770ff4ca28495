"""Modules, and other objects with forward, whose calls are captured."""

from collections.abc import Sized

from foregrad.compiler._compile import Compiled, callable_of
from foregrad.nn import Module

# Attributes of the module itself; all others are those of the module that it wraps.
_OWN = {"_orig_mod", "_compiled", "forward", "__dict__"}


class OptimizedModule(Module):
    """A module that runs another one as captured code.

    It is a Module whose one child is the other one, `_orig_mod`: a parent finds its parameters, and
    their names begin with `_orig_mod.`. Hooks that are registered with it run around the captured
    code, those of `_orig_mod` inside. Other attributes are read and set on `_orig_mod`.
    """

    def __init__(self, mod, compiled):
        object.__setattr__(self, "_orig_mod", mod)  # attributes are looked up there from now on
        Module.__init__(self)
        del self.__dict__["_orig_mod"], self.__dict__["training"]
        self._orig_mod = mod  # a child
        self.__dict__.update(_compiled=compiled, forward=compiled)

    training = property(lambda self: self._orig_mod.training,
                        lambda self, mode: setattr(self._orig_mod, "training", mode))

    def explain(self, path=None):
        """A page of HTML about what was compiled: written to `path`, or returned."""
        return self._compiled.explain(path)

    def graphs(self):
        """The graphs of all versions by name."""
        return self._compiled.graphs()

    def cache_key(self, *args, **kwargs):
        """The key under which the cache has, or would have, the forward of a call."""
        return self._compiled.cache_key(*args, **kwargs)

    def __len__(self):
        if isinstance(self._orig_mod, Sized):
            return len(self._orig_mod)
        raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")

    def __bool__(self):
        return not isinstance(self._orig_mod, Sized) or len(self._orig_mod) > 0

    def __getattr__(self, name):
        if name == "_orig_mod":
            members = self.__dict__.get("_modules", {})
            if name not in members:
                raise AttributeError("OptimizedModule has no module yet")
            return members[name]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        if hasattr(type(self), name) or name in _OWN:
            return super().__setattr__(name, value)
        return setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        if hasattr(type(self), name) or name in _OWN:
            return super().__delattr__(name)
        return delattr(self._orig_mod, name)

    def __dir__(self):
        attributes = self._orig_mod.__dir__()
        return attributes + [name for name in super().__dir__() if name not in attributes]

    def __reduce__(self):
        return _make, (self._orig_mod, self._compiled.compiled.options), self.__getstate__()

    def __getstate__(self):
        """The pickled state beside the module: hooks, and members registered with this wrapper."""
        state = {name: value for name, value in self.__dict__.items()
                 if name not in ("_compiled", "forward", "_compiled_call_impl")}
        return state | {"_modules": {name: module for name, module in self._modules.items()
                                     if name != "_orig_mod"}}

    def __setstate__(self, state):
        state["_modules"] = {"_orig_mod": self._orig_mod} | state["_modules"]
        self.__dict__.update(state)


class CompiledObject:
    """An object with forward that is no Module; everything but its calls is that of the object."""

    def __init__(self, original, compiled):
        object.__setattr__(self, "_orig_mod", original)
        object.__setattr__(self, "_compiled", compiled)

    def __call__(self, *args, **kwargs):
        return self._compiled(*args, **kwargs)

    def explain(self, path=None):
        return self._compiled.explain(path)

    def graphs(self):
        return self._compiled.graphs()

    def cache_key(self, *args, **kwargs):
        return self._compiled.cache_key(*args, **kwargs)

    def __getattr__(self, name):
        if name == "_orig_mod":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        delattr(self._orig_mod, name)

    def __repr__(self):
        return f"compiled({self._orig_mod!r})"

    def __reduce__(self):
        return _make, (self._orig_mod, self._compiled.compiled.options)

    @property
    def _captured_function(self):
        return self._orig_mod


def _make(original, options):
    """A copy, or an unpickled one: it is captured anew."""
    return object_of(original, callable_of(Compiled(original, **options)))


def object_of(original, compiled):
    """The wrapper of an object with forward; its calls are captured."""
    kind = OptimizedModule if isinstance(original, Module) else CompiledObject
    return kind(original, compiled)

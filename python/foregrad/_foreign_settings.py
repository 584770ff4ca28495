"""Settings of PyTorch's compiler: taken and given back, with one warning that they mean nothing."""

import contextlib
import sys
import warnings

_said = False


def say(name):
    """Warns once in a program."""
    global _said
    if not _said:
        _said = True
        warnings.warn(f"{name}: settings of PyTorch's compiler mean nothing here; foregrad.compile "
                      "has its own in foregrad.compiler.config", UserWarning, stacklevel=3)


class Settings:
    """A tree of settings: any name can be set, and is what it was set to; others are None."""

    def __init__(self, name):
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_values", {})

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"{self._name} has no attribute '{name}'")
        # A name that was not set may be a group of settings, such as triton.cudagraphs.
        return self._values.setdefault(name, Settings(f"{self._name}.{name}"))

    def __setattr__(self, name, value):
        say(f"{self._name}.{name}")
        self._values[name] = value

    def __bool__(self):
        return False

    def __repr__(self):
        return f"<settings {self._name}>"

    def __iter__(self):
        return iter(())

    @contextlib.contextmanager
    def patch(self, changes=None, value=None, **more):
        """Sets some for a while."""
        wanted = {changes: value} if isinstance(changes, str) else {**(changes or {}), **more}
        say(f"{self._name}.patch")
        before = dict(self._values)
        self._values.update(wanted)
        try:
            yield
        finally:
            self._values.clear()
            self._values.update(before)


def install(module):
    """Makes the settings of a module importable under its name: `import ..._dynamo.config`."""
    made = Settings(f"{module}.config")
    object.__setattr__(made, "__name__", f"{module}.config")
    object.__setattr__(made, "__spec__", None)
    sys.modules[f"{module}.config"] = made
    return made

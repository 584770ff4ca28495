"""Modules that do not exist here: their names can be imported, and say so when they are used."""


def refusal(module, name, advice):
    """A class of this name: making an object of it, or calling it, is refused."""
    def refuse(cls, *args, **kwargs):
        raise NotImplementedError(f"{module}.{name} does not exist here; {advice}")

    return type(name, (), {"__new__": refuse, "__module__": f"foregrad.{module}",
                           "__doc__": f"Does not exist here: {advice}."})


def refusals(module, advice):
    """The __getattr__ of a module: every public name is such a class."""
    made = {}

    def find(name):
        if name.startswith("__"):
            raise AttributeError(f"module 'foregrad.{module}' has no attribute '{name}'")
        return made.setdefault(name, refusal(module, name, advice))

    return find

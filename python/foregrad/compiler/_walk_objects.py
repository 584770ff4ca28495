"""Reads of objects and of their classes; a part of Walk."""

import operator
import types
import weakref

from foregrad import _C
from foregrad.compiler._code import REACHES_ALL
from foregrad.compiler._known import LIBRARY_MODULES, generator_of, is_plain_class, unknown_native
from foregrad.compiler._places import is_data

# Methods that run when an object is made, not when it is used; and names that reach its class.
_MAKES = {"__init__", "__new__"}
_REACHES_CLASS = {"type", "__class__"} | REACHES_ALL


def is_ours(value):
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] == "foregrad"


def declared(kind, name):
    """The value that a class, or one of its bases, declares under a name; code that looks names up
    does not run."""
    return next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), ())


def _held(value):
    """An object as a read of itself holds it: weakly, for its version goes when it goes."""
    try:
        return weakref.ref(value)
    except TypeError:
        return value


class ObjectWalk:
    """Visits objects and classes."""

    def _name_members(self, attributes):
        """Names the members of a module as its attributes."""
        for name in ("_parameters", "_buffers", "_modules"):
            if isinstance(attributes.get(name), dict):
                self._prefixes[id(attributes[name])] = self._prefixes[id(attributes)]

    def _visit_object(self, value):
        kind = value if isinstance(value, type) else type(value)
        self._check_native(value, kind)
        for more in declared(kind, "_read_when_captured"):
            self._queue.append(more)
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            if _C.read("attributes", value, None) is attributes:
                self._reads.append(("attributes", _held(value), None, "same", attributes))
            self.originals.append((attributes, dict(attributes)))
            self._prefixes[id(attributes)] = f"{self._paths.get(id(value), '?')}."
            self._name_members(attributes)
            everything = (self._reaches_all or hasattr(kind, "__getattr__")
                          or is_ours(kind)  # whose code has names that are not looked at
                          or issubclass(kind, types.SimpleNamespace))  # == and str() read all
            if everything:
                unread = declared(kind, "_unread_when_captured")
                self._visit_dict(attributes, [key for key in attributes if key not in unread])
            else:
                # A name that is not there now may be there later and hide that of the class.
                for name in self.names | self._tried:
                    if name in attributes or name in self._tried or hasattr(kind, name):
                        self._add("entry", attributes, name)
        self._visit_class(value, kind)

    def _check_native(self, value, kind):
        """Refuses an object with state that is neither seen nor compared."""
        if kind in self._harmless:
            return
        if isinstance(value, operator.attrgetter):
            self.names.update(part for name in value.__reduce__()[1] if isinstance(name, str)
                              for part in name.split("."))
        if (generator := generator_of(value)) is not None:
            self.generators.append(generator)
        elif not (why := unknown_native(value)):
            if value is not kind and is_plain_class(kind):
                self._harmless.add(kind)
        else:
            name = self._paths.get(id(value), "?")
            if value is kind or kind.__name__ == "cython_function_or_method":
                self.unseen[value.__name__] = name
            else:
                self._problems.append((value, f"the function reads {name}, a {kind.__qualname__}, "
                                       f"which {why}; pass what it gives as an argument"))

    def _visit_class(self, value, kind):
        """Reads members of a class that code mentions, or that run without being mentioned."""
        if value is not kind and _C.is_python_class(kind):
            self._reads.append(("kind", _held(value), None, "same", kind))
        self._visit_lineage(kind)
        makes = value is kind or self.names & _REACHES_CLASS
        everything = self._reaches_all
        called = declared(kind, "_called_when_captured")  # by us, not by name
        for base in kind.__mro__:
            if base.__module__ == "builtins" or is_ours(base):
                continue
            for name, member in list(base.__dict__.items()):
                if isinstance(member, types.MemberDescriptorType):
                    if value is not kind and (everything or name in self.names):
                        self._add("attribute", value, name)
                elif name == "__dict__" or isinstance(member, types.GetSetDescriptorType):
                    continue
                elif (name in self.names or name in called
                      or (everything and not name.startswith("__") and is_data(member))
                      or (name.startswith("__") and callable(member)
                          and (makes or name not in _MAKES))):
                    self._add("class_entry", base, name)
            self._visit_absent(kind, base)

    def _visit_lineage(self, kind):
        """Reads the order in which a class looks names up, and members of its metaclass."""
        if id(kind) in self._lineages or not _C.is_python_class(kind):
            return
        self._lineages.add(id(kind))
        self._reads.append(("lineage", kind, None, "same", kind.__mro__))
        if type(kind).__module__.partition(".")[0] in LIBRARY_MODULES or is_ours(type(kind)):
            return
        if type(kind) is not type:
            self._visit_class(kind, type(kind))

    def _visit_absent(self, kind, base):
        """Reads names that a class of the user may get later: they hide those of the next one."""
        if base.__module__.partition(".")[0] in LIBRARY_MODULES:
            return
        behind = kind.__mro__[kind.__mro__.index(base) + 1:] + type(kind).__mro__
        for name in (self.names | self._tried) - base.__dict__.keys():
            hides = name in self._tried or any(name in one.__dict__ for one in behind)
            if hides and (id(base), name) not in self._absent:
                self._absent.add((id(base), name))
                self._add("class_entry", base, name)

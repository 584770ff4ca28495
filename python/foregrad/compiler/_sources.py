"""What a Python function reads besides its arguments: free variables, globals, attributes.

A snapshot is taken when a function is captured; what it found is read again before every later call
(_C.Reads), so that a captured function is never stale. Which attributes a function reads is not
known exactly; all names that its code, and the code it may call, mention are looked at. The reads
are a flat list: objects on the way must be the same ones, so each read knows from where.
"""

import collections
import functools
import types

from foregrad import _C

Tensor = _C.Tensor
_VALUES = (int, float, bool, str, bytes, complex, type(None), type(Ellipsis), range, _C.dtype)
_OPAQUE = (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType,
           types.MethodDescriptorType, types.GetSetDescriptorType, types.CodeType,
           types.MappingProxyType)
# Names that reach attributes whose names the code does not mention.
_REACHES_ALL = {"getattr", "vars", "__dict__", "globals", "locals", "eval", "exec", "dir",
                "__getattribute__", "__getattr__"}
# What runs when an object is made, not when it is used; and names that reach an object's class.
_MAKES = {"__init__", "__new__"}
_REACHES_CLASS = {"type", "__class__"} | _REACHES_ALL


_LONGEST_PATH, _DEEPEST_VALUE = 200, 5


class Unreadable(RuntimeError):
    """A function reads something whose state cannot be compared later."""


class Place:
    """Where a float was read and another one may be put."""

    def __init__(self, how, holder, key):
        self._how, self._holder, self._key = how, holder, key
        self.identity = (how, id(holder), key)

    def read(self):
        return _C.read(self._how, self._holder, self._key)

    def write(self, value):
        if self._how == "cell":
            self._holder.cell_contents = value
        elif self._how in ("attribute", "class_entry"):
            setattr(self._holder, self._key, value)
        else:
            self._holder[self._key] = value


def _is_ours(value):
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] == "foregrad"


def _is_value(value, depth=0):
    if type(value) is not tuple and type(value) is not frozenset:
        return isinstance(value, _VALUES)
    # What is nested more deeply is read item by item, without looking into all of it at each level.
    return depth < _DEEPEST_VALUE and all(
        _is_value(item, depth + 1) and type(item) is not float for item in value)


class Snapshot:
    """What functions and objects read now. `reads` reads it again.

    Floats at `moving` places are not compared: they are inputs. `names` are those of roots, by id.
    """

    def __init__(self, roots, moving=(), names=None):
        self._roots, self._moving, names = roots, moving, names or {}
        self.names = set()
        count = -1
        while count != len(self.names):  # a name may make more code reachable, which has more names
            count = len(self.names)
            self._reads, self._seen, self._queue = [], {}, list(roots)
            self._originals, self.places = [], {}
            self._paths = {id(root): names.get(id(root), "self") for root in roots}
            self._prefixes = {}  # of dictionaries whose keys are names
            self.tensor_names, self.float_names = [], []
            while self._queue:
                self._visit(self._queue.pop())
        self.reads = _C.Reads(self._reads)
        del self._queue, self._paths, self._prefixes, self._reads
        self.tensors, self.floats = self.reads.again()

    def holds_abstract(self):
        """Whether a tensor of the function that was captured is still reached from outside."""
        after = Snapshot(self._roots)
        return any(_C.is_abstract(tensor) for tensor in after.tensors)

    def restore(self):
        """Puts back what the capture of a function changed, before it runs eagerly."""
        for holder, original in self._originals:
            if isinstance(holder, list):
                holder[:] = original
            elif isinstance(holder, collections.deque):
                holder.clear()
                holder.extend(original)
            elif isinstance(holder, (dict, set)) and holder != original:
                holder.clear()
                holder.update(original)

    # ---- names: as the function's code says it

    def _name(self, how, holder, key):
        if id(holder) in self._prefixes:
            return f"{self._prefixes[id(holder)]}{key}"
        path = self._paths.get(id(holder), "?")
        if len(path) > _LONGEST_PATH:  # of lists within lists, which may be nested very deeply
            path = f"{path[:_LONGEST_PATH]}..."
        if how == "cell":
            return path
        return f"{path}.{key}" if how in ("attribute", "class_entry") else f"{path}[{key!r}]"

    def _go_on(self, value, path):
        self._paths.setdefault(id(value), path)
        self._queue.append(value)

    # ---- what is read

    def _add(self, how, holder, key=None):
        value = _C.read(how, holder, key)
        expected = "same", value
        if isinstance(value, Tensor):
            expected = "tensor", None
            self.tensor_names.append(self._name(how, holder, key))
        elif type(value) is float and (how, id(holder), key) in self._moving:
            place = Place(how, holder, key)
            index, _ = self.places.setdefault(place.identity, (len(self.places), place))
            if index == len(self.float_names):
                self.float_names.append(self._name(how, holder, key))
            expected = "moving", index
        elif type(value) is float:
            expected = "bits", value
        elif _is_value(value):
            expected = "value", value
        elif value is not _C.MISSING:
            self._go_on(value, self._name(how, holder, key))
        self._reads.append((how, holder, key, *expected))

    def _visit(self, value):
        if id(value) in self._seen or isinstance(value, Tensor) or _is_value(value):
            return
        self._seen[id(value)] = value
        if isinstance(value, _OPAQUE):
            of = getattr(value, "__self__", None)
            if isinstance(of, (type, list, dict, set)):  # the apply of a Function, a list's index
                self._go_on(of, "self")
            return
        if isinstance(value, types.FunctionType):
            self._visit_function(value)
        elif isinstance(value, types.MethodType):
            self._queue.append(value.__func__)
            self._go_on(value.__self__, "self")
        elif isinstance(value, functools.partial):
            self._queue.append(value.func)
            self._go_on(value.args, "args")
            self._go_on(value.keywords, "kwargs")
        elif isinstance(value, (staticmethod, classmethod)):
            self._queue.append(value.__func__)
        elif isinstance(value, property):
            self._queue += [value.fget]
        elif isinstance(value, (list, tuple, collections.deque)):
            self._originals.append((value, list(value)))
            self._add("length", value)
            for i in range(len(value)):
                self._add("item", value, i)
        elif isinstance(value, dict):
            self._originals.append((value, dict(value)))
            self._visit_dict(value, value)
        elif isinstance(value, (set, frozenset)):
            self._originals.append((value, set(value)))
            self._visit_keys(value)
        elif isinstance(value, bytearray):
            self._add("bytes", value)
        elif type(value).__module__ == "numpy" and hasattr(value, "tobytes"):
            self._visit_array(value)
        elif hasattr(value, "_captured_function"):
            self._go_on(value._captured_function, self._paths.get(id(value), "self"))
        elif isinstance(value, (types.GeneratorType, map, filter, zip, enumerate)):
            raise Unreadable(f"the function reads a {type(value).__name__}, which changes when it "
                             "is read; pass a list")
        elif isinstance(value, types.ModuleType):
            if value.__name__.partition(".")[0] != "foregrad":
                self._prefixes.setdefault(id(value.__dict__), f"{value.__name__}.")
                self._visit_dict(value.__dict__, self.names & value.__dict__.keys(), part=True)
        else:
            self._visit_object(value)

    def _visit_array(self, value):
        if value.nbytes > 4096:
            raise Unreadable("the function reads a large numpy array; make it a tensor")
        self._add("elements", value)

    def _visit_dict(self, value, keys, part=False):
        if not part:
            self._visit_keys(value)
        for key in list(keys):
            self._add("entry", value, key)

    def _visit_keys(self, value):
        self._reads.append(("keys", value, None, "each", _C.read("keys", value, None)))
        for key in value:
            if isinstance(key, Tensor):
                raise Unreadable("the function reads a dictionary or set whose keys are tensors; "
                                 "use a list of pairs")
            self._queue.append(key)  # which may have attributes

    def _names_of(self, code):
        names = set(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                names |= self._names_of(constant)
        return names

    def _visit_function(self, value):
        if _is_ours(value):
            return
        names = self._names_of(value.__code__)
        self.names |= names
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            self._add("attribute", value, name)
        for cell, name in zip(value.__closure__ or (), value.__code__.co_freevars):
            self._paths[id(cell)] = f"free {name}"
            self._add("cell", cell)
        self._prefixes[id(value.__globals__)] = "global "
        for name in names & value.__globals__.keys():
            self._add("entry", value.__globals__, name)

    def _name_members(self, attributes):
        """What a module holds is called as an attribute of the module."""
        for name in ("_parameters", "_buffers", "_modules"):
            if isinstance(attributes.get(name), dict):
                self._prefixes[id(attributes[name])] = self._prefixes[id(attributes)]

    def _visit_object(self, value):
        kind = value if isinstance(value, type) else type(value)
        for more in getattr(kind, "_read_when_captured", ()):
            self._queue.append(more)
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            self._originals.append((attributes, dict(attributes)))
            self._prefixes[id(attributes)] = f"{self._paths.get(id(value), '?')}."
            self._name_members(attributes)
            everything = self.names & _REACHES_ALL or hasattr(kind, "__getattr__")
            if everything:
                unread = getattr(kind, "_unread_when_captured", ())
                self._visit_dict(attributes, [key for key in attributes if key not in unread])
            else:
                # A name that is not there now may be there later and hide that of the class.
                for name in self.names:
                    if name in attributes or hasattr(kind, name):
                        self._add("entry", attributes, name)
        self._visit_class(value, kind)

    def _visit_class(self, value, kind):
        """What a class has that code mentions, or that runs without being mentioned."""
        makes = value is kind or self.names & _REACHES_CLASS
        called = getattr(kind, "_called_when_captured", ())  # by us, not by name
        for base in kind.__mro__:
            if base.__module__ == "builtins" or _is_ours(base):
                continue
            for name, member in list(base.__dict__.items()):
                if isinstance(member, types.MemberDescriptorType):
                    if value is not kind and name in self.names:
                        self._add("attribute", value, name)
                elif name == "__dict__" or isinstance(member, types.GetSetDescriptorType):
                    continue
                elif (name in self.names or name in called
                      or (name.startswith("__") and callable(member)
                          and (makes or name not in _MAKES))):
                    self._add("class_entry", base, name)

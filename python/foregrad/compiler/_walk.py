"""Finds the reads of a Python function besides its arguments: free variables, globals, attributes.

The attributes that a function reads are not known exactly: the walk looks at every name that its
code, or code that it may call, mentions. The reads are a flat list. Objects on the way must be the
same ones, so each read knows its holder.
"""

import collections
import functools
import sys
import types

from foregrad import _C
from foregrad.compiler._code import (
    BUILTINS_ONLY,
    REACHES_ALL,
    codes_in,
    globals_loaded_in,
    globals_stored_in,
    modules_in,
    names_in,
    names_tried_in,
    reaches_all_in,
)
from foregrad.compiler._known import (
    LIBRARY_MODULES,
    is_impure,
    is_library,
    name_of,
)
from foregrad.compiler._places import PLAIN, Place, is_data, is_value
from foregrad.compiler._walk_objects import ObjectWalk, declared, is_ours

Tensor = _C.Tensor
_OPAQUE = (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType,
           types.MethodDescriptorType, types.GetSetDescriptorType, types.CodeType)
_VIEWS = (type({}.keys()), type({}.values()), type({}.items()))
_MEMORY = type(functools.lru_cache(len))
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")
_LONGEST_PATH = 200
_MOST_REMEMBERED = 1000


class Unreadable(RuntimeError):
    """A function reads something whose state cannot be compared later."""


def _first_names(root):
    """Names that will be met for sure: with those a second walk is seldom needed."""
    if isinstance(root, types.FunctionType):
        functions = [root]
    elif declared(type(root), "_called_when_captured") and hasattr(root, "modules"):
        functions = [getattr(kind, "forward", None) for kind in {type(m) for m in root.modules()}]
    else:
        return set()
    return {name for function in functions
            if isinstance(function, types.FunctionType) and not is_ours(function)
            for code in codes_in(function.__code__) for name in names_in(code)}


class Walk(ObjectWalk):
    """Goes from `roots` to all that their code may read.

    Floats at `moving` places are not compared: they are inputs. `names` are those of roots, by id;
    `mentioned` are names that more code mentions; `grown` are lists that are only appended to.
    """

    def __init__(self, roots, moving=(), names=None, mentioned=(), grown=()):
        self._moving, names = moving, names or {}
        self.names, self.grown = set(mentioned), {id(one) for one in grown}
        self._own = set()  # of the names those that code of the user mentions
        for root in roots:
            self._own |= _first_names(root)
        self.names |= self._own
        self._cells = {}  # names of free variables
        # Whether code reads variables or attributes whose names it does not mention.
        self._reaches_all = bool(REACHES_ALL & self.names - BUILTINS_ONLY)
        self._tried = set()  # of the names those of things that may not be there
        self._known_as = {}  # lists: the names under which they are found, None for an item
        count = -1
        # A name may make more code reachable, which has more names.
        while count != (len(self.names), len(self._tried), self._reaches_all):
            count = len(self.names), len(self._tried), self._reaches_all
            self._mentioned = frozenset(self.names | self._tried)
            self._reads, self._seen, self._queue = [], {}, list(roots)
            self.originals, self.variables, self.places = [], [], {}
            self.codes, self.unloaded, self._harmless = {}, False, set()
            self.generators, self.memories = [], []  # of random numbers; functools.lru_cache
            self.impure = set()  # names of native functions whose calls are refused
            self.unseen = {}  # names of native functions and types whose calls are not seen
            # Found by code of Python's own library; refused, unless that alone found it.
            self._library, self._problems, self._in_library = set(), [], False
            self._paths = {id(root): names.get(id(root), "self") for root in roots}
            self._absent = set()  # names that a class does not have, with its id
            self._lineages = set()  # of classes whose order of lookup is read
            self._prefixes = {}  # of dictionaries whose keys are names
            self.tensor_names, self.float_names = [], []
            while self._queue:
                self._visit(self._queue.pop())
        for value, why in self._problems:
            if id(value) not in self._library:
                raise Unreadable(why)
        del self._queue, self._paths, self._prefixes, self._problems, self._absent, self._lineages

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
        if self._in_library:
            self._library.add(id(value))
        else:
            self._library.discard(id(value))
        self._queue.append(value)

    # ---- reads

    def _add(self, how, holder, key=None):
        value = _C.read(how, holder, key)
        expected = "same", value
        if type(value) in PLAIN and type(value) is not float:
            expected = "value", value
        elif isinstance(value, Tensor):
            expected = "tensor", self._mentioned
            if getattr(value, "__dict__", None):
                expected = "tensor", self._mentioned - value.__dict__.keys()
                self._visit_tensor(value, how, holder, key)
            self.tensor_names.append(self._name(how, holder, key))
        elif type(value) is float and (how, id(holder), key) in self._moving:
            place = Place(how, holder, key)
            index, _ = self.places.setdefault(place.identity, (len(self.places), place))
            if index == len(self.float_names):
                self.float_names.append(self._name(how, holder, key))
            expected = "moving", index
        elif type(value) is float:
            expected = "bits", value
        elif is_value(value):
            expected = "value", value
        elif value is not _C.MISSING:
            if type(value) is list:
                self._note_list(value, how, holder, key)
            if is_impure(value):
                self._note_impure(value, how, holder, key)
            self._go_on(value, self._name(how, holder, key))
        self._reads.append((how, holder, key, *expected))

    def _note_list(self, value, how, holder, key):
        named = how == "cell" or id(holder) in self._prefixes
        name = self._name(how, holder, key).rpartition(" ")[2].rpartition(".")[2]
        self._known_as.setdefault(id(value), set()).add(name if named else None)

    def names_of_list(self, value):
        """The names under which a list is found; None among them: it is an item of another one."""
        return self._known_as.get(id(value), {None})

    def _note_impure(self, value, how, holder, key):
        """Its calls are seen, unless native code makes them: what is handed to such is refused."""
        if how == "item" or (how == "entry" and id(holder) not in self._prefixes):
            self._problems.append((value, "the function reads a container with "
                                   f"{name_of(value)}, which may give something else at every "
                                   "call; call it outside and pass the result"))
        self.impure.add(self._name(how, holder, key).rpartition(" ")[2].rpartition(".")[2])

    def _visit(self, value):
        if id(value) in self._seen or is_value(value) or isinstance(value, Tensor):
            return
        self._seen[id(value)] = value
        self._in_library = id(value) in self._library
        if isinstance(value, _OPAQUE):
            of = getattr(value, "__self__", None)
            native = isinstance(of, type) and not _C.is_python_class(of)  # of its __new__
            if not native and not isinstance(of, types.ModuleType):
                self._go_on(of, "self")  # the apply of a Function, a list's index
        elif isinstance(value, types.FunctionType):
            self._visit_function(value)
        elif isinstance(value, types.ModuleType):
            self._visit_module(value)
        elif (declared(type(value), "_captured_function")
              or "_captured_function" in getattr(value, "__dict__", ())):
            self._go_on(value._captured_function, self._paths.get(id(value), "self"))
        elif not self._visit_callable(value) and not self._visit_container(value):
            self._visit_object(value)

    def _visit_callable(self, value):
        """Follows a callable to the function that it calls; False: it is no such callable."""
        if isinstance(value, types.MethodType):
            self._queue.append(value.__func__)
            self._go_on(value.__self__, "self")
        elif isinstance(value, functools.partial):
            if is_impure(value.func):
                self._note_impure(value.func, "item", value, 0)
            self._queue.append(value.func)
            self._go_on(value.args, "args")
            self._go_on(value.keywords, "kwargs")
        elif isinstance(value, (staticmethod, classmethod)):
            if is_impure(value.__func__):
                self._note_impure(value.__func__, "item", value, 0)
            self._queue.append(value.__func__)
        elif isinstance(value, property):
            self._queue.append(value.fget)
        elif isinstance(value, _MEMORY):
            self.memories.append(value)
            self._visit_memory(value)
        else:
            return False
        return True

    def _visit_memory(self, value):
        if value.cache_info().currsize > _MOST_REMEMBERED:
            self._problems.append((value, "the function reads a functools.lru_cache of more than "
                                   f"{_MOST_REMEMBERED} entries; call it outside and pass the "
                                   "result"))
            return
        self._reads.append(("memory", value, None, "each", _C.read("memory", value, None)))
        self._queue.append(value.__wrapped__)
        for result in _C.remembered_results(value):  # they may be changed in place
            self._go_on(result, "remembered")

    def _visit_container(self, value):
        """Reads a container with its items; False: it is none."""
        if isinstance(value, (list, tuple, collections.deque)):
            self.originals.append((value, list(value)))
            if id(value) in self.grown:
                return True
            self._add("length", value)
            for i in range(len(value)):
                self._add("item", value, i)
        elif value is sys.modules or value is sys.stdout or value is sys.stderr:
            return True  # code of the user that runs must not mention the first; others are written
        elif isinstance(value, dict):
            if isinstance(value, collections.defaultdict) and is_impure(value.default_factory):
                self._note_impure(value.default_factory, "item", value, 0)
            self.originals.append((value, dict(value)))
            self._visit_dict(value, value)
        elif isinstance(value, types.MappingProxyType):
            self._visit_dict(value, value)
        elif isinstance(value, _VIEWS):
            self._go_on(value.mapping, "mapping")
        elif isinstance(value, (set, frozenset)):
            self.originals.append((value, set(value)))
            self._visit_keys(value)
        elif isinstance(value, (bytearray, memoryview)) or type(value).__module__ == "array":
            self._visit_bytes(value)
        elif isinstance(value, getattr(sys.modules.get("numpy"), "ndarray", ())):
            self._visit_array(value)
        elif type(value).__module__ == "numpy" and hasattr(value, "tobytes"):  # a number
            self._add("elements", value)
        elif isinstance(value, getattr(sys.modules.get("logging"), "Logger", ())):
            self._visit_logger(value)
            return True
        else:
            return False
        if _C.is_python_class(type(value)):
            self._visit_object(value)
        return True

    def _visit_logger(self, value):
        """Reads the levels that decide whether a logger writes; its handlers are of no interest."""
        self._add("entry", value.manager.__dict__, "_disable")
        while value is not None:
            self._add("entry", value.__dict__, "level")
            self._add("entry", value.__dict__, "disabled")
            value = value.parent

    def _visit_bytes(self, value):
        if memoryview(value).nbytes <= 4096:
            self._add("bytes", value)
        else:
            self._problems.append((value, f"the function reads a large {type(value).__name__}; "
                                   "make it a tensor"))

    def _visit_module(self, value):
        if value.__name__.partition(".")[0] == "foregrad":
            return
        self._prefixes.setdefault(id(value.__dict__), f"{value.__name__}.")
        self._reads.append(("kind", value, None, "same", type(value)))
        if type(value) is not types.ModuleType:
            self._visit_class(value, type(value))
        library = (is_library(getattr(value, "__file__", None) or "")
                   or value.__name__ in sys.builtin_module_names)
        names = (self._own if library else self.names) & value.__dict__.keys()
        if self._reaches_all and not library:
            names |= {name for name, held in list(value.__dict__.items())
                      if not name.startswith("__") and is_data(held)}
        if not library:
            names |= self._tried
        self._visit_dict(value.__dict__, names, part=True)

    def _visit_array(self, value):
        plain = sys.modules["numpy"].ndarray
        if value.nbytes > 4096:
            self._problems.append((value, "the function reads a large numpy array; make it a "
                                   "tensor"))
            return
        # Subclasses have methods of their own; their memory is what counts.
        self._add("elements", value if type(value) is plain else plain.view(value, plain))
        if value.dtype.hasobject:
            self._problems.append((value, "the function reads a numpy array of objects; make it a "
                                   "list"))

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
            if type(key) is not str:
                self._go_on(key, "?")  # a key may have attributes

    def _visit_function(self, value):
        if is_ours(value):
            return
        code, variables = value.__code__, value.__globals__
        for cell, name in zip(value.__closure__ or (), code.co_freevars):
            self._paths[id(cell)] = f"free {name}"
            self._cells[id(cell)] = name
            self._add("cell", cell)
            self._note_variable("cell", cell, None)
            if is_library(code.co_filename):
                self._note_library(_C.read("cell", cell, None))
        self._prefixes[id(variables)] = "global "
        if is_library(code.co_filename):
            return self._visit_library(code, variables)
        names = self._names_of(code, variables)
        self.names |= names
        self._own |= names
        for name in OF_FUNCTIONS:
            self._add("attribute", value, name)
        for name in names & variables.keys() | self._globals_of(code):
            self._add("entry", variables, name)
        self._visit_attributes(value, f"{code.co_name}.")
        for name in globals_stored_in(code) & variables.keys():
            self._note_variable("entry", variables, name)

    def _visit_tensor(self, value, how, holder, key):
        """Reads the attributes of a tensor that has some; another one has others."""
        if self._mentioned & value.__dict__.keys():
            self._reads.append((how, holder, key, "same", value))
        if id(value) not in self._seen:
            self._seen[id(value)] = value
            self._visit_attributes(value, f"{self._name(how, holder, key)}.")

    def _visit_attributes(self, value, prefix):
        """Reads the attributes of a function or a tensor that code mentions."""
        attributes = value.__dict__
        self.originals.append((attributes, dict(attributes)))
        self._prefixes.setdefault(id(attributes), prefix)
        read = self._mentioned & attributes.keys()
        if read:
            self._reads.append(("attributes", value, None, "same", attributes))
        if self._tried:
            self._reads.append(("attributes", value, None, "lacks", self._mentioned - read))
        for name in read:
            self._add("entry", attributes, name)

    @staticmethod
    def _globals_of(code):
        """Names of globals that code reads, missing ones too: one may come, and hide a builtin."""
        return {name for one in codes_in(code) for name in globals_loaded_in(one)}

    def _note_library(self, value):
        """Notes an object that Python's own library keeps for itself."""
        if type(value).__module__.partition(".")[0] in LIBRARY_MODULES:
            self._library.add(id(value))

    def _note_variable(self, how, holder, key):
        """Notes a variable that the function may set."""
        place = Place(how, holder, key)
        if (value := place.read()) is not _C.MISSING:
            self.variables.append((place, value))

    def _visit_library(self, code, variables):
        """A function of Python's own library. Its code is not followed: what it calls is seen when
        it runs, and the names that it mentions then are given to the next snapshot."""
        self._in_library = True
        for name in set(code.co_names) & variables.keys():
            if not isinstance(variables[name], _CODE):
                self._add("entry", variables, name)

    def _names_of(self, code, variables):
        names = set()
        for one in codes_in(code):
            self.codes[id(one)] = one
            names |= names_in(one)
            self._tried |= names_tried_in(one)
            self._reaches_all |= reaches_all_in(one)
            for module in modules_in(one, variables):
                self.unloaded |= module is None
                self._queue.append(module)
        return names

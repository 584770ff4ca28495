"""Native things, made by C and not by Python code, that a captured function may touch.

Python code is followed through its names, and its reads are compared at every call. A native
function or object may hold state that nothing compares: a clock, a generator of random numbers, a
position in a file. So it must be known to be harmless, or the function runs eagerly.
"""

import os
import sys
import types

from foregrad import _C

# Modules whose functions depend on their arguments alone, or only have effects.
_PURE_MODULES = frozenset((
    "math", "cmath", "_operator", "itertools", "_functools", "_bisect", "_heapq", "_struct",
    "_statistics", "_abc", "_string", "_json", "_sre", "unicodedata", "binascii", "_collections",
    "_codecs", "zlib", "_warnings", "_typing", "_stat", "_weakref", "numpy", "_opcode", "_csv",
    "numpy._core._multiarray_umath", "numpy.core._multiarray_umath", "numpy.lib.array_utils",
    "array", "_datetime"))
_NOT_PURE = frozenset((
    ("builtins", "open"), ("builtins", "input"), ("builtins", "eval"), ("builtins", "exec"),
    ("builtins", "globals"), ("builtins", "breakpoint"), ("builtins", "__import__"),
    ("datetime", "now"), ("datetime", "today"), ("datetime", "utcnow"),
    ("datetime", "fromtimestamp"), ("datetime", "astimezone"), ("datetime", "timestamp"),
    ("_thread", "locked"), ("_operator", "call"), ("numpy", "fromfile"), ("array", "fromfile"),
    ("numpy._core._multiarray_umath", "fromfile"), ("numpy.core._multiarray_umath", "fromfile"),
    ("numpy._core._multiarray_umath", "_get_extobj_dict"), ("numpy.core.umath", "geterrobj")))
IMPURE_BUILTINS = frozenset(name for module, name in _NOT_PURE if module == "builtins")
_PURE = frozenset((
    ("time", "sleep"), ("posix", "fspath"), ("nt", "fspath"), ("sys", "getsizeof"),
    ("sys", "intern"), ("sys", "exc_info"), ("sys", "exception"), ("gc", "collect"),
    ("_thread", "allocate_lock"), ("_thread", "RLock"),
    ("_io", "write"), ("_io", "writelines"), ("_io", "flush")))
# Modules of native types whose state comes from arguments of their methods, or is looked into.
_PURE_TYPES = frozenset((
    "builtins", "collections", "_collections", "re", "operator", "functools", "types", "itertools",
    "datetime", "numpy", "numpy.dtypes", "_thread", "_json", "array", "typing", "enum", "_struct",
    "abc", "numpy._core._multiarray_umath"))
LIBRARY_MODULES = frozenset(sys.stdlib_module_names - {"builtins"})
# Types that ask a clock, or call functions that they are given by name.
_CALLS_UNSEEN = frozenset((("operator", "methodcaller"), ("numpy", "datetime64")))
# Types whose objects are read by calls alone; the watch sees those calls.
_READ_BY_CALLS = frozenset(("_random", "_io", "_contextvars", "zlib", "_hashlib"))
_QUEUES = frozenset(("queue", "_queue", "multiprocessing.queues", "multiprocessing.connection"))
_FUNCTIONS = (types.BuiltinFunctionType, types.MethodDescriptorType,
              types.ClassMethodDescriptorType)
# Callers with effects only: the values that they read are written somewhere, or loaded once.
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_NUMPY = f"-packages{os.sep}numpy{os.sep}"
_EFFECTS = (_LIBRARY + "logging" + os.sep, _LIBRARY + "warnings.py", "<frozen importlib",
            _LIBRARY + "importlib" + os.sep + "_", _LIBRARY + "importlib" + os.sep + "__init__.py")
_PACKAGE = __file__.rsplit("compiler", 1)[0]
_BODY = __file__.replace("_known.py", "_body.py")


def is_library(file):
    """Whether a file is of Python's own library, or of numpy."""
    if file.startswith((_LIBRARY, "<frozen ")):
        return "-packages" not in file or _NUMPY in file
    return _NUMPY in file


def is_followed(file):
    """Whether code of a file is the user's: neither ours nor of Python's own library."""
    return not file.startswith(_PACKAGE) and not is_library(file)


def _owner(function):
    """The module of a native function, or of the type whose method it is."""
    if hasattr(function, "__objclass__"):
        return function.__objclass__
    of = function.__self__
    if of is None or isinstance(of, type(sys)):
        return function.__module__ or getattr(of, "__name__", "")
    kind = of if isinstance(of, type) else type(of)
    for base in (*kind.__mro__, type):
        if function.__name__ in base.__dict__:
            return base
    return kind


def name_of(function):
    """A native function as a program spells it."""
    owner = _owner(function)
    if not isinstance(owner, type):
        return f"{owner}.{function.__name__}" if owner != "builtins" else function.__name__
    inside = "" if owner.__module__ == "builtins" else f"{owner.__module__}."
    return f"{inside}{owner.__qualname__}.{function.__name__}"


def is_pure(function):
    """Whether a native function returns equal results for equal arguments at any time."""
    owner = _owner(function)
    of_type = isinstance(owner, type)
    module = (owner.__module__ if of_type else owner) or ""
    if module.partition(".")[0] == "foregrad" or (module, function.__name__) in _PURE:
        return True
    if (module, function.__name__) in _NOT_PURE:
        return False
    return module in (_PURE_TYPES if of_type else _PURE_MODULES) or module == "builtins"


def is_impure_module(value):
    """Whether a thing is a module of Python's own library that has impure functions."""
    return (isinstance(value, types.ModuleType) and value.__name__ in LIBRARY_MODULES
            and value.__name__ != "operator" and any(map(is_impure, list(vars(value).values()))))


def counts(frame):
    """Whether code that begins to run may read anything that a function depends on."""
    file = frame.f_code.co_filename
    return not file.startswith((_PACKAGE, *_EFFECTS)) and not is_made_for_effects(frame, True)


def is_made_for_effects(frame, user=False):
    """Whether a call comes from code whose results no tensor depends on, or from ours."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_EFFECTS):
            return True
        if file == _BODY:
            return False
        if file.startswith(_PACKAGE) and not user:
            return True
        user = user or is_followed(file)
        frame = frame.f_back
    return False


def is_impure(value):
    """Whether an object is a native function with results that may differ at every call."""
    return isinstance(value, _FUNCTIONS) and not is_pure(value)


def shared_generators():
    """The random generators of Python and numpy that all parts of a program share."""
    for module, name in (("random", "_inst"), ("numpy.random.mtrand", "_rand")):
        if hasattr(sys.modules.get(module), name):
            yield getattr(sys.modules[module], name)


def generator_of(value):
    """The generator of random numbers, whose state can be compared, that a thing is, or that a
    function draws from; None."""
    kind = type(value)
    if isinstance(value, getattr(sys.modules.get("random"), "Random", ())):
        return None if isinstance(value, sys.modules["random"].SystemRandom) else value
    if kind.__name__ == "cython_function_or_method":
        shared = value.__module__.startswith("numpy.random") and value.__name__ in (
            "seed", "ranf", "sample", "set_state", "get_state")
        return sys.modules["numpy.random.mtrand"]._rand if shared else None
    if not kind.__module__.startswith("numpy.random"):
        return None
    known = hasattr(value, "bit_generator") or hasattr(value, "set_state")
    return value if known else None


def _is_method_of_generator(value):
    return (type(value).__name__ == "cython_function_or_method"
            and value.__module__.startswith("numpy.random") and "." in value.__qualname__)


def _native_base(kind):
    for base in kind.__mro__:
        if not _C.is_python_class(base):
            return base


def is_plain_class(kind):
    """Whether Python can see everything that objects of a class hold."""
    return _native_base(kind) is object


def unknown_native(value):
    """The reason why the state of a native object or type cannot be compared later, or None."""
    kind = value if isinstance(value, type) else type(value)
    if value is not kind and any(base.__module__ in _QUEUES for base in kind.__mro__):
        return "gives something else at every call"
    base = _native_base(kind)
    if base is object or base is BaseException or (isinstance(value, type) and base is not value):
        return None
    module, name = base.__module__, base.__qualname__
    if (module, name) in _CALLS_UNSEEN:
        return "makes calls that are not seen"
    if module == "_thread" and name in ("_local", "_localdummy"):
        return "holds something else in every thread"
    if module == "_io":
        readable = value is not kind and hasattr(value, "read") and not value.closed
        return "may be read from" if readable and value.readable() else None
    if module == "functools" or module.partition(".")[0] == "foregrad":
        return None
    if generator_of(value) is not None or _is_method_of_generator(value):
        return None
    if value is not kind and hasattr(base, "__next__"):
        return "changes when it is read"
    if module in _PURE_TYPES or module in _READ_BY_CALLS:
        return None
    return "is native, and not known to be the same at every call"

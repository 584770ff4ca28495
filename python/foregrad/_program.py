"""Settings that a program makes once, and small questions about tensors and the build."""

import os
import sys
import warnings

from foregrad import _C
from foregrad._device import _device

Tensor = _C.Tensor


class OutOfMemoryError(RuntimeError):
    """Memory of an accelerator is used up: never raised here, but named in programs."""


class AcceleratorError(RuntimeError):
    """A failure of an accelerator: never raised here, but named in programs."""


class _State:
    precision, warns_always, interop_threads = "highest", False, None
    deterministic = 0  # 0 no, 1 warn, 2 error


def get_float32_matmul_precision():
    """The precision of float32 matrix products that was asked for: they always have all of it."""
    return _State.precision


def set_float32_matmul_precision(precision):
    """Allows less precise float32 products: 'highest', 'high' or 'medium'.

    The cpu has no faster products than the exact ones, so only the answer changes.
    """
    if not isinstance(precision, str):
        raise TypeError("set_float32_matmul_precision: precision must be str, not "
                        f"{type(precision).__name__}")
    if precision not in ("highest", "high", "medium"):
        warnings.warn(f"{precision} is not one of 'highest', 'high', or 'medium'; the current call "
                      "of set_float32_matmul_precision has no effect.", stacklevel=2)
        return
    _State.precision = precision


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Asks for functions that give equal results in every run: all functions here do."""
    for name, value in (("mode", mode), ("warn_only", warn_only)):
        if not isinstance(value, bool):
            raise TypeError(f"use_deterministic_algorithms(): argument '{name}' must be bool, not "
                            f"{type(value).__name__}")
    _State.deterministic = (1 if warn_only else 2) if mode else 0


def are_deterministic_algorithms_enabled():
    """Whether use_deterministic_algorithms(True) was called."""
    return _State.deterministic > 0


def is_deterministic_algorithms_warn_only_enabled():
    """Whether use_deterministic_algorithms was called with warn_only."""
    return _State.deterministic == 1


def get_deterministic_debug_mode():
    """0, 1 with warn_only, or 2."""
    return _State.deterministic


def set_deterministic_debug_mode(debug_mode):
    """The same as use_deterministic_algorithms, as a number or a word."""
    words = {"default": 0, "warn": 1, "error": 2}
    if isinstance(debug_mode, str):
        if debug_mode not in words:
            raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, "
                               f"`error`, but got {debug_mode}")
        debug_mode = words[debug_mode]
    if not isinstance(debug_mode, int):
        raise TypeError("debug_mode must be str or int, but got "
                        f"{type(debug_mode).__name__}")
    if debug_mode not in (0, 1, 2):
        raise RuntimeError("invalid value of debug_mode, expected 0, 1, or 2, but got "
                           f"{debug_mode}")
    _State.deterministic = debug_mode


def is_warn_always_enabled():
    """Whether warnings that appear once were asked for every time."""
    return _State.warns_always


def set_warn_always(b):
    """Asks for warnings every time: Python's own filters decide how often one is shown."""
    if not isinstance(b, bool):
        raise RuntimeError(f"set_warn_always expects a bool, but got {type(b).__name__}")
    _State.warns_always = b


def get_num_interop_threads():
    """The threads that run independent operations of one program: one, the caller's."""
    return _State.interop_threads or 1


def set_num_interop_threads(num):
    """Sets the number of such threads, once; none start, so only the answer changes."""
    if isinstance(num, bool) or not isinstance(num, int):
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {type(num).__name__}")
    if num <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    if _State.interop_threads is not None:
        raise RuntimeError("Error: cannot set number of interop threads after parallel work has "
                           "started or set_num_interop_threads called")
    _State.interop_threads = num


def set_flush_denormal(mode):
    """Asks for numbers near zero to become zero: answers whether that was done.

    They are kept, because results must not depend on the thread that computes them.
    """
    if not isinstance(mode, bool):
        raise TypeError(f"set_flush_denormal expects a bool, but got {type(mode).__name__}")
    return not mode


def get_device_module(device=None):
    """The module of a device: foregrad.cpu, also for None."""
    kind = "cpu" if device is None else _device(device).type
    if kind not in ("cpu", "cuda", "mps", "xpu", "mtia"):
        raise RuntimeError(f"Invalid device_type of {kind}: expected one of cpu, cuda, mps, xpu")
    import importlib

    return importlib.import_module(f"foregrad.{kind}")


def get_file_path(*path_components):
    """A path below the folder that holds the package."""
    return os.path.join(os.path.dirname(os.path.dirname(__file__)), *path_components)


def compiled_with_cxx11_abi():
    """Whether C++ strings have the layout of today: yes."""
    return True


def is_vulkan_available():
    """Whether Vulkan can be used: no."""
    return False


# ---- tensors

def _expect_tensor(value, name):
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not "
                        f"{type(value).__name__}")
    return value


def is_complex(input):
    """Whether the elements are complex numbers: never."""
    return _expect_tensor(input, "is_complex").is_complex()


def is_signed(input):
    """Whether the elements may be negative."""
    return _expect_tensor(input, "is_signed").is_signed()


def is_conj(input):
    """Whether the tensor waits to be conjugated: never."""
    _expect_tensor(input, "is_conj")
    return False


def is_neg(input):
    """Whether the tensor waits to be negated: never."""
    _expect_tensor(input, "is_neg")
    return False


def is_distributed(input):
    """Whether the tensor is spread over processes: never."""
    _expect_tensor(input, "is_distributed")
    return False


def is_nonzero(input):
    """Whether the only element is not zero."""
    return _expect_tensor(input, "is_nonzero").is_nonzero()


def is_same_size(input, other):
    """Whether two tensors have the same sizes."""
    return _expect_tensor(input, "is_same_size").is_same_size(_expect_tensor(other, "is_same_size"))


def get_device(input):
    """The number of the tensor's accelerator: -1 on the cpu."""
    return _expect_tensor(input, "get_device").get_device()


def is_storage(obj):
    """Whether an object is the storage of a tensor."""
    storage = sys.modules.get("foregrad.storage")
    kinds = tuple(kind for name in ("UntypedStorage", "TypedStorage")
                  if isinstance(kind := getattr(storage, name, None), type))
    return isinstance(obj, kinds)


def typename(obj):
    """The name of a tensor's type, or of an object's class with its module."""
    if isinstance(obj, Tensor):
        return obj.type()
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", None) or ""
    name = named.__qualname__
    return name if module in ("", "builtins") else f"{module}.{name}"


# ---- numbers that capture may know as symbols; here they are numbers

def sym_int(a):
    """An integer, as int()."""
    return int(a)


def sym_float(a):
    """A float, as float()."""
    return float(a)


def sym_not(a):
    """The opposite of a bool."""
    return not a


def sym_max(a, b):
    """The larger number; a float where one of them is."""
    return type(a + b)(max(a, b))


def sym_min(a, b):
    """The smaller number; a float where one of them is."""
    return type(a + b)(min(a, b))


def sym_sum(args):
    """The sum of numbers."""
    return sum(args)


def sym_ite(b, t, f):
    """The second or the third, as the first says."""
    return t if b else f


def sym_sqrt(a):
    """The square root."""
    return a ** 0.5



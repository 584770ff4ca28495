"""Foregrad: tensors and gradients with PyTorch's names, from a small and fast C++ library.

Functions, methods, their arguments and documentation come from the library's table of functions;
here are the names around them.
"""

from foregrad import _C
from foregrad._C import (  # noqa: F401
    Generator,
    Size,
    Tensor,
    __version__,
    dtype,
    get_default_dtype,
    get_num_threads,
    is_grad_enabled,
    is_inference_mode_enabled,
    set_num_threads,
)
from foregrad._names import install_functions
from foregrad._types import (  # noqa: F401
    bfloat16,
    bool,
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    double,
    e,
    finfo,
    float,
    float16,
    float32,
    float64,
    get_default_device,
    half,
    iinfo,
    inf,
    int,
    int8,
    int16,
    int32,
    int64,
    layout,
    long,
    memory_format,
    nan,
    newaxis,
    pi,
    preserve_format,
    set_default_device,
    short,
    strided,
    uint8,
)

install_functions(globals())
del install_functions

from foregrad._creation import *  # noqa: E402,F401,F403
from foregrad._tensor import is_tensor  # noqa: E402,F401
from foregrad import _other_kinds  # noqa: E402,F401
from foregrad._random import (  # noqa: E402,F401
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from foregrad.autograd._modes import (  # noqa: E402,F401
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from foregrad import autograd, nn, utils  # noqa: E402,F401
from foregrad.storage import TypedStorage, UntypedStorage  # noqa: E402,F401


def compile(model=None, **options):
    """Makes a function, a method or an object with `forward` run as captured code.

    The options are those of foregrad.compiler.compile, which is loaded when it is first needed.
    """
    from foregrad.compiler import compile as compile_now
    return compile_now(model, **options)


# Loaded when they are first needed.
_LATE = ("_VF", "compiler", "optim", "safetensors", "serialization")


def __getattr__(name):
    if name in _LATE:
        import importlib
        return importlib.import_module(f"foregrad.{name}")
    from foregrad._late import find
    return find(name)


def save(obj, f, *args, **options):
    """Writes an object to a file that PyTorch can read, or to one of the format safetensors."""
    from foregrad.serialization import save as save_now
    save_now(obj, f, *args, **options)


def load(f, map_location=None, *args, **options):
    """Reads a file of save() or torch.save; of a plain safetensors file the tensors by name."""
    from foregrad.serialization import load as load_now
    return load_now(f, map_location, *args, **options)


def set_default_dtype(d):
    """Sets the dtype of floats that are made without a dtype."""
    _C.set_default_dtype(d)


def promote_types(type1, type2):
    """The smallest dtype that both can be converted to."""
    return _C._promote_types(type1, type2)


def can_cast(from_, to):
    """Whether a result of one dtype may be written into a tensor of another."""
    return _C._can_cast(from_, to)


def is_inference(input):
    """Whether the tensor was made in inference mode."""
    return _C._is_inference(input)

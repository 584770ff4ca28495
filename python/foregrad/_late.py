"""Names and modules of the package that are loaded when they are first needed."""

import importlib
import sys

MODULES = frozenset((
    "_dynamo", "_inductor", "accelerator", "amp", "ao", "backends", "cpu", "cuda", "distributed",
    "distributions", "export", "functional", "fx", "hub", "jit", "linalg", "mps", "mtia",
    "multiprocessing", "onnx", "overrides", "profiler", "quantization", "random", "sparse",
    "special", "testing", "types", "version", "xpu", "__config__"))
_TYPED = ("FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "ByteTensor", "CharTensor",
          "ShortTensor", "IntTensor", "LongTensor", "BoolTensor")
_BY_MODULE = {
    "_typed": (*_TYPED, "set_default_tensor_type"),
    "_printing": ("set_printoptions",),
    "_program": (
        "are_deterministic_algorithms_enabled", "compiled_with_cxx11_abi",
        "get_deterministic_debug_mode", "get_device", "get_device_module", "get_file_path",
        "get_float32_matmul_precision", "get_num_interop_threads", "is_complex", "is_conj",
        "is_deterministic_algorithms_warn_only_enabled", "is_distributed", "is_neg", "is_nonzero",
        "is_same_size", "is_signed", "is_storage", "is_vulkan_available", "is_warn_always_enabled",
        "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal",
        "set_num_interop_threads", "set_warn_always", "sym_float", "sym_int", "sym_ite", "sym_max",
        "sym_min", "sym_not", "sym_sqrt", "sym_sum", "typename", "use_deterministic_algorithms",
        "AcceleratorError", "OutOfMemoryError"),
    "_streams": ("Event", "Stream"),
    "amp": ("autocast", "clear_autocast_cache", "get_autocast_cpu_dtype", "get_autocast_dtype",
            "get_autocast_gpu_dtype", "is_autocast_cache_enabled", "is_autocast_cpu_enabled",
            "is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_dtype",
            "set_autocast_enabled"),
    "sparse": ("sparse_coo_tensor", "sparse_csr_tensor", "sparse_csc_tensor", "sparse_bsr_tensor",
               "sparse_bsc_tensor", "sparse_compressed_tensor"),
    "utils.dlpack": ("to_dlpack",),
}
NAMES = {name: module for module, names in _BY_MODULE.items() for name in names}


def find(name):
    """The module or the thing of this name, which the package has from now on."""
    package = sys.modules["foregrad"]
    if name == "torch":  # PyTorch knows itself by its name
        return package
    if name in MODULES:
        return importlib.import_module(f"foregrad.{name}")
    if name not in NAMES:
        raise AttributeError(f"module 'foregrad' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"foregrad.{NAMES[name]}"), name)
    setattr(package, name, value)
    return value


def load_all():
    """Loads every one of them: for tools that describe the package."""
    for name in (*MODULES, *NAMES):
        find(name)

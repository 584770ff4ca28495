"""Helpers around gradients and parameters."""

import importlib

from foregrad.nn.utils.clip_grad import (  # noqa: F401
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from foregrad.nn.utils.convert_parameters import (  # noqa: F401
    parameters_to_vector,
    vector_to_parameters,
)
from foregrad.nn.utils.fusion import (  # noqa: F401
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from foregrad.nn.utils.init import skip_init  # noqa: F401
from foregrad.nn.utils.memory_format import (  # noqa: F401
    convert_conv2d_weight_memory_format,
    convert_conv3d_weight_memory_format,
)
from foregrad.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm  # noqa: F401
from foregrad.nn.utils.weight_norm import remove_weight_norm, weight_norm  # noqa: F401

# Loaded when they are first needed.
_LATE = ("parametrizations", "parametrize", "prune", "rnn", "stateless")
__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
           "convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format",
           "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval",
           "fuse_linear_bn_weights", "get_total_norm", "parameters_to_vector",
           "remove_spectral_norm", "remove_weight_norm", "skip_init", "spectral_norm",
           "vector_to_parameters", "weight_norm"]


def __getattr__(name):
    if name in _LATE:
        return importlib.import_module(f"foregrad.nn.utils.{name}")
    raise AttributeError(f"module 'foregrad.nn.utils' has no attribute '{name}'")

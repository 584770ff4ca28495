"""Parametrisations that are ready to use: orthogonal matrices, weight and spectral norm."""

from __future__ import annotations

from foregrad.nn.modules.conv import _ConvTransposeNd
from foregrad.nn.modules.module import Module
from foregrad.nn.utils import parametrize
from foregrad.nn.utils._orthogonal import MAPS, _is_orthogonal, _Orthogonal  # noqa: F401
from foregrad.nn.utils._weight_norms import _SpectralNorm, _WeightNorm

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _named(module, name):
    tensor = getattr(module, name, None)
    from foregrad import Tensor as Kind
    if not isinstance(tensor, Kind):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return tensor


def orthogonal(module: Module, name: str = "weight", orthogonal_map: str | None = None, *,
               use_trivialization: bool = True) -> Module:
    """Keeps a matrix orthogonal: its columns, or its rows where there are fewer."""
    weight = _named(module, name)
    if weight.ndim < 2:
        raise ValueError("Expected a matrix or batch of matrices. Got a tensor of "
                         f"{weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in MAPS:
        names = ", ".join(f'"{one}"' for one in MAPS)
        raise ValueError(f"orthogonal_map has to be one of {names}. Got: {orthogonal_map}")
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learns the lengths of the vectors of a weight apart from their directions."""
    made = _WeightNorm(dim)
    parametrize.register_parametrization(module, name, made, unsafe=True)
    module._register_load_state_dict_pre_hook(_OldNames(name))
    return module


class _OldNames:
    """States of the older weight_norm, whose tensors are `weight_g` and `weight_v`."""

    def __init__(self, name):
        self.name = name

    def __call__(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                 error_msgs):
        old = [f"{prefix}{self.name}_{each}" for each in "gv"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                new = f"{prefix}parametrizations.{self.name}.original{i}"
                state_dict[new] = state_dict.pop(key)


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1,
                  eps: float = 1e-12, dim: int | None = None) -> Module:
    """Divides a weight by its largest singular value, which is estimated step by step."""
    weight = _named(module, name)
    if dim is None:
        dim = 1 if isinstance(module, _ConvTransposeNd) else 0
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, made)

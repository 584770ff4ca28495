"""The older spectral_norm, by a hook before every call."""

from __future__ import annotations

from foregrad.autograd._modes import no_grad
from foregrad.nn import functional as F
from foregrad.nn.modules.conv import _ConvTransposeNd
from foregrad.nn.modules.module import Module
from foregrad.nn.parameter import Parameter
from foregrad.nn.utils._weight_norms import as_matrix, iterate

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from typing import Any

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook: it divides a weight by its largest singular value."""

    name: str
    dim: int
    n_power_iterations: int
    eps: float

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0,
                 eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")
        self.name, self.dim = name, dim
        self.n_power_iterations, self.eps = n_power_iterations, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight with the dimension of the outputs as rows."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight, as it is used."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            _iterate(matrix, u, v, self.n_power_iterations, self.eps)
            u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def remove(self, module: Module) -> None:
        """Leaves the weight as it is now."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for end in ("_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name,
                self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int,
              eps: float) -> SpectralNorm:
        """Registers the hook with a module."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError("Cannot register two spectral_norm hooks on the same parameter "
                                   f"{name}")
        made = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError("`SpectralNorm` cannot be applied as parameter "
                             f"`{name}` is None")
        rows, columns = as_matrix(weight.detach(), dim).shape
        u, v = (F.normalize(weight.detach().new_empty((size,)).normal_(0, 1), dim=0, eps=eps)
                for size in (rows, columns))
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)  # no parameter: it is computed anew at every call
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(made)
        module._register_state_dict_hook(_Version(made))
        module._register_load_state_dict_pre_hook(_OldStates(made, module))
        return made


@no_grad()
def _iterate(matrix, u, v, steps, eps):
    """As iterate(), but v first."""
    for _ in range(steps):
        v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=eps))
        u.copy_(F.normalize(matrix.mv(v), dim=0, eps=eps))


class _Version:
    """Notes in a saved state that it has the v of the iteration."""

    def __init__(self, norm):
        self.norm = norm

    def __call__(self, module, state_dict, prefix, local_metadata):
        versions = local_metadata.setdefault("spectral_norm", {})
        versions[self.norm.name + ".version"] = 1


class _OldStates:
    """Completes states from before v was saved: the power iteration computes it anew."""

    def __init__(self, norm, module):
        self.norm, self.module = norm, module

    def __call__(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                 error_msgs):
        key = prefix + self.norm.name
        if key + "_v" in state_dict or key + "_orig" not in state_dict:
            return
        with no_grad():
            matrix = as_matrix(state_dict[key + "_orig"], self.norm.dim)
            u = state_dict[key + "_u"]
            v = F.normalize(matrix.t().mv(u), dim=0, eps=self.norm.eps)
            state_dict[key + "_v"] = v
            state_dict.pop(key, None)


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1,
                  eps: float = 1e-12, dim: int | None = None) -> Module:
    """Divides a weight by its largest singular value, which is estimated call by call."""
    if dim is None:
        dim = 1 if isinstance(module, _ConvTransposeNd) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Takes spectral_norm back; the weight stays as it is."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for hooks, kind in ((module._state_dict_hooks, _Version),
                        (module._load_state_dict_pre_hooks, _OldStates)):
        for key, hook in list(hooks.items()):
            found = hook[0] if isinstance(hook, tuple) else hook
            if isinstance(found, kind) and found.norm.name == name:
                del hooks[key]
    return module

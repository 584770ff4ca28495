"""Modules that take the sizes of their parameters from their first input."""

from __future__ import annotations

from foregrad.nn.modules.module import Module
from foregrad.nn.parameter import is_lazy

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any

__all__ = ["LazyModuleMixin", "is_lazy"]


class LazyModuleMixin(Module):
    """Stands in front of a module class; its first call runs initialize_parameters()."""

    cls_to_become: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters,
                                                               with_kwargs=True)

    def _own_tensors(self):
        return {**self._parameters, **self._buffers}.items()

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        whole = {name for name, tensor in self._own_tensors() if not is_lazy(tensor)}
        for name, tensor in self._own_tensors():
            if tensor is not None and name not in self._non_persistent_buffers_set:
                as_is = keep_vars or name not in whole
                destination[prefix + name] = tensor if as_is else tensor.detach()

    def _lazy_load_hook(self, state_dict, prefix, local_metadata, strict, missing_keys,
                        unexpected_keys, error_msgs):
        """Gives tensors the sizes that a loaded state has."""
        for name, tensor in self._own_tensors():
            value = state_dict.get(prefix + name)
            if value is not None and is_lazy(tensor) and not is_lazy(value):
                tensor.materialize(value.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Gives the parameters their sizes; the arguments are those of forward()."""
        raise NotImplementedError("initialize_parameters is not implemented for "
                                  f"{type(self).__name__}; define it in the class")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no sizes yet."""
        return any(is_lazy(tensor) for _, tensor in self._own_tensors())

    def _infer_parameters(self, module, args, kwargs=None):
        """The hook before the first call; the module becomes an ordinary one."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
        return None

    def _replicate_for_data_parallel(self):
        raise RuntimeError("Modules with uninitialized parameters can't be used with "
                           "`DataParallel`. Run a dummy forward pass to correctly initialize the "
                           "modules")

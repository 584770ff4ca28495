"""Optimizer: groups of parameters with settings, and the state of each parameter."""

from __future__ import annotations

import copy
import functools
import warnings
from collections import OrderedDict, defaultdict

from foregrad import _C
from foregrad.nn.modules._global_hooks import register_in
from foregrad.nn.modules._members import typename
from foregrad.nn.modules.module import zero_gradient
from foregrad.optim._state_dict import loaded_state, packed_state, value_for_parameter

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from foregrad import Tensor
    from foregrad.utils.hooks import RemovableHandle
    from typing import Any, TypeAlias

    _Params: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

Tensor = _C.Tensor
ParamsT = object  # a name that typed programs import

_global_optimizer_pre_hooks = OrderedDict()
_global_optimizer_post_hooks = OrderedDict()

_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks",
          "_optimizer_state_dict_pre_hooks", "_optimizer_state_dict_post_hooks",
          "_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks")


class _RequiredParameter:
    """The default of a setting that every group has to name."""

    def __repr__(self):
        return "<required parameter>"


required = _RequiredParameter()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """hook(optimizer, args, kwargs) runs before step() of every optimiser."""
    return register_in(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """hook(optimizer, args, kwargs) runs after step() of every optimiser."""
    return register_in(_global_optimizer_post_hooks, hook)


class Optimizer:
    """The base of all optimisers; `defaults` are the settings of groups that do not name them."""

    defaults: dict[str, Any]
    state: dict[Tensor, Any]
    param_groups: list[dict[str, Any]]

    def __init__(self, params: _Params, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._make_hooks()
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of "
                            f"Tensors or dicts, but got {typename(params)}")
        self.state, self.param_groups = defaultdict(dict), []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = cls.profile_hook_step(cls.step)

    def _make_hooks(self):
        for hooks in _HOOKS:
            self.__dict__.setdefault(hooks, OrderedDict())

    def _patch_step_function(self):
        """Lets hooks run around a step() that was put into the class later."""
        kind = type(self)
        if not hasattr(kind.step, "hooked"):
            kind.step = self.profile_hook_step(kind.step)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates the parameters; closure() computes the loss anew."""
        raise NotImplementedError

    # ---- groups

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with settings of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        param_group["params"], names = _parameters_and_names(param_group["params"])
        if names:
            param_group["param_names"] = names
        self._check_params(param_group["params"])
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError("parameter group didn't specify a value of required optimization "
                                 f"parameter {name}")
            param_group.setdefault(name, default)
        self._check_group(param_group)
        self.param_groups.append(param_group)

    def _check_params(self, params):
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is "
                                f"{typename(param)}")
            if not (self.defaults.get("differentiable") or param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")

    def _check_group(self, given):
        params = {id(param) for param in given["params"]}
        if len(params) != len(given["params"]):
            warnings.warn("optimizer contains a parameter group with duplicate parameters, which "
                          "are updated twice; in future, this will cause an error", stacklevel=4)
        for group in self.param_groups:
            if ("param_names" in given) != ("param_names" in group):
                kind = "with" if "param_names" in given else "without"
                raise ValueError("all optimizer param groups should be with/without names. cannot "
                                 f"add param group {kind} names to the optimizer")
            if not params.isdisjoint(id(param) for param in group["params"]):
                raise ValueError("some parameters appear in more than one parameter group")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets gradients, or makes them zero."""
        for group in self.param_groups:
            if set_to_none:
                _C.forget_gradients(group["params"])
                continue
            for parameter in group["params"]:
                zero_gradient(parameter, set_to_none)

    # ---- saving

    def state_dict(self) -> dict[str, Any]:
        """State and settings; parameters are numbers. Tensors are not copied."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        state_dict = packed_state(self)
        for hook in self._optimizer_state_dict_post_hooks.values():
            made = hook(self, state_dict)
            state_dict = state_dict if made is None else made
        return state_dict

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over the settings and copies the state of parameters at equal places."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            made = hook(self, state_dict)
            state_dict = state_dict if made is None else made
        state, groups = loaded_state(self, state_dict)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    @staticmethod
    def _process_value_according_to_param_policy(param, value, param_id, param_groups, key=None):
        """A tensor of a saved state as a parameter needs it."""
        return value_for_parameter(value, param, key)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._make_hooks()
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __deepcopy__(self, memo):
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        made.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return made

    def __repr__(self):
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group)
                            if key != "params")
        return text + ")"

    # ---- hooks

    @staticmethod
    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        """step() with the hooks around it."""
        if hasattr(func, "hooked"):
            return func

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            self = args[0]  # hooks see it among the arguments
            if _global_optimizer_pre_hooks or self._optimizer_step_pre_hooks:
                args, kwargs = _after_pre_hooks(self, func, args, kwargs)
            result = func(*args, **kwargs)
            self._opt_called = True
            for hooks in (self._optimizer_step_post_hooks, _global_optimizer_post_hooks):
                for hook in hooks.values():
                    hook(self, args, kwargs)
            return result

        wrapper.hooked = True
        return wrapper

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(optimizer, args, kwargs) runs before step() and may return other arguments."""
        return register_in(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(optimizer, args, kwargs) runs after step()."""
        return register_in(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any],
                                     prepend: bool = False) -> RemovableHandle:
        """hook(optimizer) runs before state_dict()."""
        return register_in(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any],
                                      prepend: bool = False) -> RemovableHandle:
        """hook(optimizer, state_dict) runs after state_dict() and may return another one."""
        return register_in(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any],
                                          prepend: bool = False) -> RemovableHandle:
        """hook(optimizer, state_dict) runs before load_state_dict() and may return another one."""
        return register_in(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any],
                                           prepend: bool = False) -> RemovableHandle:
        """hook(optimizer) runs after load_state_dict()."""
        return register_in(self._optimizer_load_state_dict_post_hooks, hook, prepend)


Optimizer.step = Optimizer.profile_hook_step(Optimizer.step)


def _after_pre_hooks(optimizer, step, args, kwargs):
    for hooks in (_global_optimizer_pre_hooks, optimizer._optimizer_step_pre_hooks):
        for hook in hooks.values():
            made = hook(optimizer, args, kwargs)
            if made is None:
                continue
            if not (isinstance(made, tuple) and len(made) == 2):
                raise RuntimeError(f"{step.__qualname__} must return None or a tuple of (new_args, "
                                   f"new_kwargs), but got {made}.")
            args, kwargs = made
    return args, kwargs


def _parameters_and_names(given):
    """The parameters of a group as a list, and their names if they have any."""
    if isinstance(given, set):
        raise TypeError("optimizer parameters need to be organized in ordered collections, but "
                        "the ordering of tensors in sets will change between runs. Please use "
                        "a list instead.")
    items = [given] if isinstance(given, Tensor) else list(given)
    names = [item[0] for item in items if isinstance(item, tuple)]
    if names and len(names) != len(items):
        raise ValueError("all optimizer params should be with/without names. Some param names are "
                         "missing")
    return [item[1] if isinstance(item, tuple) else item for item in items], names

"""Optimizer: groups of parameters with settings, and the state of each parameter."""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict, defaultdict

from foregrad import _C
from foregrad.nn.modules._global_hooks import register_in
from foregrad.nn.modules._members import typename
from foregrad.nn.modules.module import zero_gradient
from foregrad.optim._state_dict import loaded_state, packed_state

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from foregrad import Tensor
    from foregrad.utils.hooks import RemovableHandle
    from typing import Any, TypeAlias

    _Params: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]

__all__ = ["Optimizer"]

Tensor = _C.Tensor


class Optimizer:
    """The base of all optimisers; `defaults` are the settings of groups that do not name them."""

    defaults: dict[str, Any]
    state: dict[Tensor, Any]
    param_groups: list[dict[str, Any]]

    def __init__(self, params: _Params, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state, self.param_groups = defaultdict(dict), []
        self._pre_hooks, self._post_hooks = OrderedDict(), OrderedDict()
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of "
                            f"Tensors or dicts, but got {typename(params)}")
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.step)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates the parameters; closure() computes the loss anew."""
        raise NotImplementedError(f"{type(self).__name__} has no step()")

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with settings of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but "
                            "the ordering of tensors in sets will change between runs. Please use "
                            "a list instead.")
        items = [given] if isinstance(given, Tensor) else list(given)
        names = [item[0] for item in items if isinstance(item, tuple)]
        if names and len(names) != len(items):
            raise ValueError("all optimizer params should be with/without names. Some param names "
                             "are missing")
        params = [item[1] if isinstance(item, tuple) else item for item in items]
        self._check_params(params)
        param_group["params"] = params
        if names:
            param_group["param_names"] = names
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        self.param_groups.append(param_group)

    def _check_params(self, params):
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is "
                                f"{typename(param)}")
            if not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(param) in known:
                raise ValueError("some parameters appear in more than one parameter group")
            # a parameter twice in one group would be updated twice
        if len({id(p) for p in params}) != len(params):
            raise ValueError("a parameter appears twice in one parameter group; pass each once")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets gradients, or makes them zero."""
        for group in self.param_groups:
            for parameter in group["params"]:
                zero_gradient(parameter, set_to_none)

    # ---- saving

    def state_dict(self) -> dict[str, Any]:
        """State and settings; parameters are numbers. Tensors are not copied."""
        return packed_state(self)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over the settings and copies the state of parameters at equal places."""
        state, groups = loaded_state(self, state_dict)
        self.__setstate__({"state": state, "param_groups": groups})

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for hooks in ("_pre_hooks", "_post_hooks"):
            self.__dict__.setdefault(hooks, OrderedDict())

    def __deepcopy__(self, memo):
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        made.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return made

    # ---- hooks and printing

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(optimizer, args, kwargs) runs before step() and may return other arguments."""
        return register_in(self._pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(optimizer, args, kwargs) runs after step()."""
        return register_in(self._post_hooks, hook)

    def __repr__(self):
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group)
                            if key != "params")
        return text + ")"


def _with_hooks(step):
    if hasattr(step, "_has_hooks"):
        return step

    @functools.wraps(step)
    def run(*args, **kwargs):
        self = args[0]  # hooks see it among the arguments
        for hook in self._pre_hooks.values():
            made = hook(self, args, kwargs)
            if made is not None:
                if not (isinstance(made, tuple) and len(made) == 2):
                    raise RuntimeError(f"{step.__qualname__} must return None or a tuple of "
                                       f"(new_args, new_kwargs), but got {made}.")
                args, kwargs = made
        result = step(*args, **kwargs)
        self._opt_called = True
        for hook in self._post_hooks.values():
            hook(self, args, kwargs)
        return result

    run._has_hooks = True
    return run

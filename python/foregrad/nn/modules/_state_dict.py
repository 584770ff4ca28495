"""state_dict() and load_state_dict() of modules."""

import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Mapping

from foregrad import _C
from foregrad.autograd._modes import no_grad
from foregrad.nn.modules._call import NO_HOOKS, own_hooks
from foregrad.nn.modules._global_hooks import register_in
from foregrad.nn.parameter import Parameter

Tensor = _C.Tensor
EXTRA = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """Keys that load_state_dict() found on one side only."""

    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class StateDict:
    """Saving and loading; a part of Module."""

    _version = 1
    _state_dict_hooks = _state_dict_pre_hooks = NO_HOOKS
    _load_state_dict_pre_hooks = _load_state_dict_post_hooks = NO_HOOKS

    def get_extra_state(self):
        """More to save; a module that defines it defines set_extra_state() too."""
        raise RuntimeError(f"{type(self).__name__} has no extra state; define get_extra_state() "
                           "and set_extra_state() in the class")

    def set_extra_state(self, state):
        """Takes the result of get_extra_state()."""
        raise RuntimeError(f"{type(self).__name__} has no extra state; define get_extra_state() "
                           "and set_extra_state() in the class")

    def _has_extra(self, name):
        return getattr(type(self), name) is not getattr(StateDict, name)

    # ---- saving

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """Parameters and persistent buffers by path. Tensors are not copied."""
        if args:
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args):])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.",
                                  keep_vars=keep_vars)
        for hook, public in self._state_dict_hooks.values():
            made = hook(self, destination, prefix, metadata)
            if made is not None and public:
                raise RuntimeError("state_dict post-hook must return None")
            destination = destination if made is None else made
        return destination

    def _persistent_buffers(self):
        return {name: buffer for name, buffer in self._buffers.items()
                if name not in self._non_persistent_buffers_set}

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, tensor in (*self._parameters.items(), *self._persistent_buffers().items()):
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if self._has_extra("get_extra_state"):
            destination[prefix + EXTRA] = self.get_extra_state()

    def register_state_dict_pre_hook(self, hook):
        """hook(module, prefix, keep_vars) runs before state_dict()."""
        return register_in(own_hooks(self, "_state_dict_pre_hooks"), hook)

    def register_state_dict_post_hook(self, hook):
        """hook(module, state_dict, prefix, local_metadata) runs after state_dict()."""
        return register_in(own_hooks(self, "_state_dict_hooks"), (hook, True))

    def _register_state_dict_hook(self, hook):
        return register_in(own_hooks(self, "_state_dict_hooks"), (hook, False))

    # ---- loading

    def register_load_state_dict_pre_hook(self, hook):
        """hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        hook = _WithModule(hook, self) if with_module else hook
        return register_in(own_hooks(self, "_load_state_dict_pre_hooks"), hook)

    def register_load_state_dict_post_hook(self, hook):
        """hook(module, incompatible_keys) runs after load_state_dict() and may change the keys."""
        return register_in(own_hooks(self, "_load_state_dict_post_hooks"), hook)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies values into parameters and buffers, or, with assign, puts the tensors there."""
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None) or {}
        self._load_tree(OrderedDict(state_dict), "", metadata, assign,
                        (missing, unexpected, errors))
        if strict:
            for what, keys in (("Unexpected", unexpected), ("Missing", missing)):
                if keys:
                    names = ", ".join(f'"{key}"' for key in keys)
                    errors.insert(0, f"{what} key(s) in state_dict: {names}. ")
        if errors:
            raise RuntimeError("Error(s) in loading state_dict for {}:\n\t{}".format(
                type(self).__name__, "\n\t".join(errors)))
        return _IncompatibleKeys(missing, unexpected)

    def _load_tree(self, state_dict, prefix, metadata, assign, found):
        local = dict(metadata.get(prefix[:-1], {}))
        if assign:
            local["assign_to_params_buffers"] = assign
        self._load_from_state_dict(state_dict, prefix, local, True, *found)
        for name, child in self._modules.items():
            if child is not None:
                path = f"{prefix}{name}."
                part = {key: value for key, value in state_dict.items() if key.startswith(path)}
                child._load_tree(part, path, metadata, assign, found)
        for hook in self._load_state_dict_post_hooks.values():
            if hook(self, _IncompatibleKeys(*found[:2])) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected "
                    "to return new values, if incompatible_keys need to be modified, it should be "
                    "done inplace.")

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys,
                              unexpected_keys, error_msgs):
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                 error_msgs)
        known = {name: tensor for name, tensor in (*self._parameters.items(),
                                                   *self._persistent_buffers().items())
                 if tensor is not None}
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, tensor in known.items():
            if prefix + name in state_dict:
                self._load_one(name, tensor, prefix + name, state_dict, assign, error_msgs)
            elif strict:
                missing_keys.append(prefix + name)
        self._load_extra(state_dict, prefix + EXTRA, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys += [key for key in state_dict if key != prefix + EXTRA
                                and not self._expects(key, prefix, known)]

    def _expects(self, key, prefix, known):
        if not key.startswith(prefix):
            return True
        name, dot, _ = key[len(prefix):].partition(".")
        return name in self._modules if dot else name in known

    def _load_one(self, name, tensor, key, state_dict, assign, errors):
        value = state_dict[key]
        if not isinstance(value, Tensor):
            errors.append(f'While copying the parameter named "{key}", expected foregrad.Tensor or '
                          f"Tensor-like object from checkpoint but received {type(value)}")
            return
        if tensor.dim() == 0 and value.shape == (1,):
            value = value[0]
        if value.shape != tensor.shape:
            errors.append(f"size mismatch for {key}: copying a param with shape {value.shape} from "
                          f"checkpoint, the shape in current model is {tensor.shape}.")
            return
        try:
            with no_grad():
                if not assign:
                    tensor.copy_(value)
                    return
                if isinstance(tensor, Parameter):
                    value = (value.requires_grad_(tensor.requires_grad)
                             if isinstance(value, Parameter)
                             else Parameter(value, requires_grad=tensor.requires_grad))
                setattr(self, name, value)
        except Exception as error:
            errors.append(f'While copying the parameter named "{key}", whose dimensions in the '
                          f"model are {tensor.size()} and whose dimensions in the checkpoint are "
                          f"{value.size()}, an exception occurred : {error.args}.")

    def _load_extra(self, state_dict, key, strict, missing, unexpected):
        if self._has_extra("set_extra_state"):
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing.append(key)
        elif strict and key in state_dict:
            unexpected.append(key)


class _WithModule:
    """A hook of loading that also gets its module, which it does not keep."""

    def __init__(self, hook, module):
        self.hook, self.module = hook, weakref.ref(module)

    def __call__(self, *args):
        return self.hook(self.module(), *args)

    def __getstate__(self):
        return {"hook": self.hook, "module": self.module()}

    def __setstate__(self, state):
        self.__init__(state["hook"], state["module"])

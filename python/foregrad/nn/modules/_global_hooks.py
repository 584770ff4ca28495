"""Hooks of all modules at once."""

from collections import OrderedDict
from typing import NamedTuple

from foregrad.utils.hooks import RemovableHandle


class ForwardHook(NamedTuple):
    """A hook of the forward pass, and how it is called."""

    call: object
    with_kwargs: bool = False
    always_call: bool = False

    def __call__(self, *args, **kwargs):
        return self.call(*args, **kwargs)


def with_options(hook, with_kwargs=False, always_call=False):
    """A hook as dictionaries of hooks hold it: the function itself unless it has options."""
    plain = not with_kwargs and not always_call
    return hook if plain else ForwardHook(hook, with_kwargs, always_call)


def as_forward_hook(hook):
    """The hook with its options."""
    return hook if isinstance(hook, ForwardHook) else ForwardHook(hook)


buffer_registration = OrderedDict()
module_registration = OrderedDict()
parameter_registration = OrderedDict()
forward_pre = OrderedDict()
forward = OrderedDict()
backward_pre = OrderedDict()
backward = OrderedDict()
# Whether the backward hooks are full ones; None while none is registered.
backward_are_full = [None]

BOTH_KINDS = ("Cannot use both regular backward hooks and full backward hooks {}. Please use only "
              "one of them.")


def register_in(hooks, hook, prepend=False):
    """Adds a hook to a dictionary; returns the handle that takes it out again."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def changed_by(hooks, module, name, value):
    """The value to register, as the hooks of its registration leave it."""
    for hook in hooks.values():
        output = hook(module, name, value)
        if output is not None:
            value = output
    return value


def register_module_buffer_registration_hook(hook):
    """hook(module, name, buffer) runs for every buffer that is registered and may replace it."""
    return register_in(buffer_registration, hook)


def register_module_module_registration_hook(hook):
    """hook(module, name, submodule) runs for every module that is registered, may replace it."""
    return register_in(module_registration, hook)


def register_module_parameter_registration_hook(hook):
    """hook(module, name, parameter) runs for every parameter registered and may replace it."""
    return register_in(parameter_registration, hook)


def register_module_forward_pre_hook(hook):
    """hook(module, args) runs before every forward() of any module."""
    return register_in(forward_pre, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """hook(module, args, output) runs after every forward() of any module."""
    return register_in(forward, with_options(hook, with_kwargs, always_call))


def register_module_full_backward_pre_hook(hook):
    """hook(module, grad_output) runs before the gradients of any module are computed."""
    return register_in(backward_pre, hook)


def register_module_full_backward_hook(hook):
    """hook(module, grad_input, grad_output) runs when gradients of any module's inputs are."""
    return _register_backward(hook, True)


def register_module_backward_hook(hook):
    """The old form of the full backward hook: it sees the last function of a module."""
    return _register_backward(hook, False)


def _register_backward(hook, full):
    if backward_are_full[0] is (not full):
        raise RuntimeError(BOTH_KINDS.format("as a global Module hook"))
    backward_are_full[0] = full
    return register_in(backward, hook)

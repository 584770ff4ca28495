"""The call of a module: forward() and the hooks around it."""

import warnings
import weakref
from collections import OrderedDict
from types import MappingProxyType

from foregrad import _C
from foregrad.nn.modules import _global_hooks as everywhere
from foregrad.nn.modules._backward_hook import BackwardHook, missed_by_regular_hook
from foregrad.nn.modules._global_hooks import (
    BOTH_KINDS,
    as_forward_hook,
    register_in,
    with_options,
)

Tensor = _C.Tensor
# Most modules have no hooks: a dictionary of its own comes with the first one.
NO_HOOKS = MappingProxyType({})


def own_hooks(module, name):
    """A module's dictionary of hooks, made when it is first needed."""
    return module.__dict__.setdefault(name, OrderedDict())


class Call:
    """Calling, and hooks of calls; a part of Module."""

    _forward_hooks = _forward_pre_hooks = _backward_hooks = _backward_pre_hooks = NO_HOOKS
    _is_full_backward_hook = None
    _compiled_call_impl = None

    def forward(self, *args, **kwargs):
        """Computes the result of a call; every module has its own."""
        raise NotImplementedError(f"Module [{type(self).__name__}] is missing the required "
                                  "\"forward\" function")

    def __call__(self, *args, **kwargs):
        if (self._forward_hooks or self._forward_pre_hooks or self._backward_hooks
                or self._backward_pre_hooks or everywhere.forward or everywhere.forward_pre
                or everywhere.backward or everywhere.backward_pre or self._compiled_call_impl):
            return (self._compiled_call_impl or self._call_impl)(*args, **kwargs)
        return self.forward(*args, **kwargs)

    def _call_impl(self, *args, **kwargs):
        """forward() and all hooks."""
        return _Hooked(self, args, kwargs).run()

    def compile(self, *args, **kwargs):
        """Makes calls of this module run as captured code; the arguments are those of
        foregrad.compile. A copy of the module is not compiled."""
        from foregrad.compiler import compile as compile_now
        self.__dict__["_compiled_call_impl"] = compile_now(self._call_impl, *args, **kwargs)

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items()
                if name != "_compiled_call_impl"}

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """hook(module, args) runs before forward() and may return other arguments."""
        hooks = own_hooks(self, "_forward_pre_hooks")
        return register_in(hooks, with_options(hook, with_kwargs), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """hook(module, args, output) runs after forward() and may return another output."""
        hooks = own_hooks(self, "_forward_hooks")
        return register_in(hooks, with_options(hook, with_kwargs, always_call), prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """hook(module, grad_output) runs before gradients of the inputs are computed."""
        return register_in(own_hooks(self, "_backward_pre_hooks"), hook, prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """hook(module, grad_input, grad_output) runs when gradients of the inputs are there."""
        self._note_kind(True)
        return register_in(own_hooks(self, "_backward_hooks"), hook, prepend)

    def register_backward_hook(self, hook):
        """The old form of register_full_backward_hook: it sees the last function only."""
        self._note_kind(False)
        return register_in(own_hooks(self, "_backward_hooks"), hook)

    def _note_kind(self, full):
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(BOTH_KINDS.format("on a single Module"))
        self._is_full_backward_hook = full


class _Hooked:
    """One call of a module that has hooks."""

    def __init__(self, module, args, kwargs):
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result, self.called = None, set()
        self.after = [(key, as_forward_hook(hook)) for key, hook in (
            *everywhere.forward.items(), *module._forward_hooks.items())]

    def run(self):
        try:
            return self.forward()
        except Exception:
            self.call_always()
            raise

    def forward(self):
        self.before()
        full, regular = self.backward_hooks()
        pre = [*everywhere.backward_pre.values(), *self.module._backward_pre_hooks.values()]
        watched = BackwardHook(self.module, full, pre) if full or pre else None
        if watched:
            self.args = watched.watch_inputs(self.args)
        self.result = self.module.forward(*self.args, **self.kwargs)
        for key, hook in self.after:
            self.called.add(key)
            self.call_after(hook)
        if watched:
            if not isinstance(self.result, (Tensor, tuple)):
                warnings.warn("For backward hooks to be called, module output should be a Tensor "
                              "or a tuple of Tensors but received "
                              f"{type(self.result)}", stacklevel=4)
            else:
                self.result = watched.watch_outputs(self.result)
        self.add_regular(regular)
        return self.result

    def before(self):
        hooks = (*everywhere.forward_pre.values(), *self.module._forward_pre_hooks.values())
        for hook in map(as_forward_hook, hooks):
            if not hook.with_kwargs:
                made = hook.call(self.module, self.args)
                if made is not None:
                    self.args = made if isinstance(made, tuple) else (made,)
                continue
            made = hook.call(self.module, self.args, self.kwargs)
            if made is None:
                continue
            if not (isinstance(made, tuple) and len(made) == 2):
                raise RuntimeError("forward pre-hook must return None or a tuple of (new_args, "
                                   f"new_kwargs), but got {made}.")
            self.args, self.kwargs = made

    def call_after(self, hook):
        more = (self.kwargs,) if hook.with_kwargs else ()
        made = hook.call(self.module, self.args, *more, self.result)
        if made is not None:
            self.result = made

    def call_always(self):
        """Runs the hooks that run in any case, after an error."""
        for key, hook in self.after:
            if not hook.always_call or key in self.called:
                continue
            try:
                self.call_after(hook)
            except Exception as error:
                warnings.warn("module forward hook with ``always_call=True`` raised an exception "
                              "that was silenced as another error was raised in forward: "
                              f"{error}", stacklevel=4)

    def backward_hooks(self):
        """Full ones and regular ones."""
        found = {True: [], False: [], None: []}
        found[everywhere.backward_are_full[0]] += everywhere.backward.values()
        found[self.module._is_full_backward_hook] += self.module._backward_hooks.values()
        return found[True], found[False]

    def add_regular(self, hooks):
        if not hooks:
            return
        output = self.result
        while not isinstance(output, Tensor):
            output = next(iter(output.values() if isinstance(output, dict) else output))
        if output.grad_fn is None:
            return
        for hook in hooks:
            output.grad_fn.register_hook(_with_module(hook, self.module))
        missing = missed_by_regular_hook(self.args, self.result, output.grad_fn)
        if missing:
            warnings.warn(f"register_backward_hook is deprecated: {missing}; use "
                          "register_full_backward_hook", FutureWarning, stacklevel=5)


def _with_module(hook, module):
    """The hook as one of a node; the graph does not keep the module."""
    reference = weakref.ref(module)
    return lambda grad_input, grad_output: hook(reference(), grad_input, grad_output)

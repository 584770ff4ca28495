"""Module: the base of all objects with parameters and other modules."""

from foregrad import _C
from foregrad import _types as types
from foregrad.autograd._modes import no_grad
from foregrad.nn.modules import _global_hooks as everywhere
from foregrad.nn.modules._call import Call
from foregrad.nn.modules._global_hooks import (  # noqa: F401
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from foregrad.nn.modules._members import Members
from foregrad.nn.modules._state_dict import StateDict

__all__ = ["Module", "register_module_backward_hook", "register_module_buffer_registration_hook",
           "register_module_forward_hook", "register_module_forward_pre_hook",
           "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
           "register_module_module_registration_hook",
           "register_module_parameter_registration_hook"]

Tensor = _C.Tensor


class Module(Call, StateDict, Members):
    """The base of all modules: parameters, buffers and modules that are attributes belong to it."""

    dump_patches = False
    call_super_init = False
    # A captured function that calls modules reads these too.
    _read_when_captured = (everywhere.forward, everywhere.forward_pre, everywhere.backward,
                           everywhere.backward_pre)
    _called_when_captured = ("forward",)
    # Attributes that calls do not read.
    _unread_when_captured = ("_non_persistent_buffers_set", "_state_dict_hooks",
                             "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
                             "_load_state_dict_post_hooks")

    def __init__(self, *args, **kwargs):
        if not self.call_super_init and kwargs:
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                            f"'{next(iter(kwargs))}'")
        if not self.call_super_init and args:
            raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but "
                            f"{len(args) + 1} were given")
        self.__dict__.update(training=True, _parameters={}, _buffers={},
                             _non_persistent_buffers_set=set(), _modules={})
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # ---- modes and gradients

    def train(self, mode=True):
        """Sets whether modules such as dropout behave as in training."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """The same as train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Sets whether parameters get gradients."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Forgets gradients, or makes them zero."""
        for parameter in self.parameters():
            zero_gradient(parameter, set_to_none)

    # ---- conversion

    def apply(self, fn):
        """Calls fn with every module, children first."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse=True):
        for module in self.children() if recurse else ():
            module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            grad = parameter.grad
            with no_grad():
                made, trained = fn(parameter), parameter.requires_grad
                # A tensor that gets gradients keeps its dtype, and so does its gradient.
                parameter.grad = None
                parameter.requires_grad_(False).data = made
                parameter.requires_grad_(trained)
                if grad is not None:
                    parameter.grad = fn(grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def _to_dtype(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def to(self, *args, **kwargs):
        """Converts floating parameters and buffers to a dtype, or to that of a tensor."""
        probe = _C._functions.empty((0,))
        dtype = probe.to(*args, **kwargs).dtype if args or kwargs else None
        named = kwargs.get("dtype") is not None or any(
            isinstance(arg, (types.dtype, Tensor)) for arg in (*args, kwargs.get("tensor")))
        if not named:
            return self
        if not dtype.is_floating_point:
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got "
                            f"desired dtype={dtype}")
        return self._to_dtype(dtype)

    def type(self, dst_type):
        """Converts all parameters and buffers to a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self):
        """Converts floating parameters and buffers to float32."""
        return self._to_dtype(types.float32)

    def double(self):
        """Converts floating parameters and buffers to float64."""
        return self._to_dtype(types.float64)

    def half(self):
        """Converts floating parameters and buffers to float16."""
        return self._to_dtype(types.float16)

    def bfloat16(self):
        """Converts floating parameters and buffers to bfloat16."""
        return self._to_dtype(types.bfloat16)

    def to_empty(self, *, device, recurse=True):
        """Gives parameters and buffers memory on a device, without values."""
        return self._apply(lambda t: _C._functions.empty_like(t, device=device), recurse=recurse)

    def _replicate_for_data_parallel(self):
        raise RuntimeError("replicas of modules need several devices; only the cpu exists here")

    def cpu(self):
        """The module itself: it is there already."""
        return self

    def cuda(self, device=None):
        """Moves the module to a GPU: there is none, so that this says so."""
        _C._functions.empty((0,)).cuda(device)

    def xpu(self, device=None):
        """Moves the module to an accelerator of this kind: there is none."""
        _C._functions.empty((0,)).xpu(device)

    def mtia(self, device=None):
        """Moves the module to an accelerator of this kind: there is none."""
        _C._functions.empty((0,)).mtia(device)

    def ipu(self, device=None):
        """Moves the module to an accelerator of this kind: there is none."""
        _C._functions.empty((0,)).ipu(device)

    def share_memory(self):
        """Moves parameters and buffers to memory that other processes see."""
        for tensor in (*self.parameters(), *self.buffers()):
            tensor.share_memory_()
            if tensor.grad is not None:
                tensor.grad.share_memory_()
        return self

    # ---- printing

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """The module's own settings, as its repr() shows them."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        extra = extra.split("\n") if extra else []
        children = [f"({name}): " + repr(module).replace("\n", "\n  ")
                    for name, module in self._modules.items()]
        if len(extra) == 1 and not children:
            return f"{self._get_name()}({extra[0]})"
        lines = "".join(f"\n  {line}" for line in extra + children)
        return f"{self._get_name()}({lines}\n)" if lines else f"{self._get_name()}()"


def zero_gradient(tensor, set_to_none):
    """Forgets a gradient, or makes it zero."""
    if tensor.grad is None:
        return
    if set_to_none:
        tensor.grad = None
        return
    if tensor.grad.grad_fn is not None:
        tensor.grad.detach_()
    else:
        tensor.grad.requires_grad_(False)
    tensor.grad.zero_()

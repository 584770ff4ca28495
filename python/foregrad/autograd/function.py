"""Custom differentiable functions, running inside the C++ engine."""

import functools
import itertools
import warnings

from foregrad import _C

__all__ = ["Function", "FunctionCtx", "once_differentiable", "InplaceFunction"]


class FunctionCtx(_C.ContextBase):
    """The context that forward and backward share: the node itself. It takes any attribute."""

    def apply(self, *grads):
        """Runs backward; the engine calls it."""
        if self._forward_cls.boxed_grads_call:
            grads = (list(grads),)
        return self._user_backward()(self, *grads)

    def apply_boxed(self, grads):
        return self._user_backward()(self, grads)

    def _user_backward(self):
        backward, vjp = self._forward_cls.backward, self._forward_cls.vjp
        if backward is not Function.backward and vjp is not Function.vjp:
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is "
                               "not allowed. You should only implement one of them.")
        return vjp if vjp is not Function.vjp else backward

    def save_for_forward(self, *tensors):
        """Kept for jvp, which is not here yet."""
        for i, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, _C.Tensor):
                raise TypeError(f"save_for_forward: argument {i} must be a Tensor or None, not "
                                f"{type(tensor).__name__}")

    def mark_shared_storage(self, *pairs):
        """Does nothing, as in PyTorch."""
        warnings.warn("mark_shared_storage is deprecated. Tensors with shared storages are "
                      "automatically tracked.", FutureWarning, stacklevel=2)

    @property
    def saved_variables(self):
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning,
                      stacklevel=2)
        return self.saved_tensors


_ids = itertools.count()


class FunctionMeta(type):
    """Gives every Function the class of its nodes."""

    def __init__(cls, name, bases, attributes):
        cls._backward_cls = type(name + "Backward", (FunctionCtx,), {"_forward_cls": cls})
        cls._backward_cls._autograd_function_id = next(_ids)
        super().__init__(name, bases, attributes)


class Function(_C.FunctionBase, metaclass=FunctionMeta):
    """A differentiable function: override forward and backward as static methods, call apply."""

    clear_saved_tensors_on_access = False
    boxed_grads_call = False
    _called_when_captured = ("forward", "setup_context", "backward", "vjp", "jvp",
                             "clear_saved_tensors_on_access", "boxed_grads_call")

    def __init__(self, *args, **kwargs):
        warnings.warn(f"{type(self)} should not be instantiated. Methods on autograd functions are "
                      "all static, so you should invoke them on the class itself.",
                      DeprecationWarning, stacklevel=2)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. "
                           "Please use new-style autograd function with static forward method.")

    @staticmethod
    def forward(*args, **kwargs):
        """forward(ctx, *args), or forward(*args) together with setup_context."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Sets up ctx when forward does not take it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """One gradient per argument of forward, from one per output."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        raise NotImplementedError("You must implement the jvp function for custom "
                                  "autograd.Function to use it with forward mode AD.")

    @classmethod
    def _has_setup_context(cls):
        return cls.setup_context is not Function.setup_context

    @classmethod
    def _bind_arguments(cls, args, kwargs):
        """All arguments by position."""
        if cls._has_setup_context():
            import inspect
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            return bound.args + tuple(bound.kwargs.values())
        return _by_position(cls, args, kwargs)


def _by_position(cls, args, kwargs):
    import inspect
    names = list(inspect.signature(cls.forward).parameters)[1:]
    values = list(args)
    if len(args) > len(names):
        raise TypeError(f"{cls.__name__}.apply() takes {len(names)} arguments, got {len(args)}")
    given = dict(zip(names, args))
    for name in kwargs:
        if name not in names:
            raise TypeError(f"{cls.__name__}.apply() got an unexpected keyword argument '{name}'")
        if name in given:
            raise TypeError(f"{cls.__name__}.apply() got multiple values for argument '{name}'")
    for name in names[len(args):]:
        if name in kwargs:
            values.append(kwargs[name])
        elif any(later in kwargs for later in names[names.index(name):]):
            raise TypeError(f"{cls.__name__}.apply() is missing the argument '{name}'")
    return tuple(values)


class InplaceFunction(Function):
    """A Function with a flag that says that it works in place."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


class _DelayedError(Function):
    @staticmethod
    def forward(ctx, message, *tensors):
        ctx.message = message
        outputs = tuple(tensor.detach() for tensor in tensors)
        return outputs if len(outputs) != 1 else outputs[0]

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError(ctx.message)


def once_differentiable(backward):
    """Marks a backward that cannot be differentiated again."""

    @functools.wraps(backward)
    def wrapped(ctx, *args):
        from foregrad.autograd._modes import no_grad

        with no_grad():
            outputs = backward(ctx, *args)
        if not _C.is_grad_enabled():
            return outputs
        flat = itertools.chain.from_iterable(a if isinstance(a, list) else (a,) for a in args)
        if not any(isinstance(a, _C.Tensor) and a.requires_grad for a in flat):
            return outputs
        single = not isinstance(outputs, tuple)
        outputs = (outputs,) if single else outputs
        message = (b"trying to differentiate twice a function that was marked with "
                   b"@once_differentiable").decode()
        fakes = [None if o is None else o.detach().requires_grad_() for o in outputs]
        results = _DelayedError.apply(message, *[f for f in fakes if f is not None])
        results = iter(results if isinstance(results, tuple) else (results,))
        checked = tuple(None if f is None else next(results) for f in fakes)
        return checked[0] if single else checked

    return wrapped

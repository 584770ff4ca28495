"""Full backward hooks of a module: two identities around its call, whose nodes see gradients."""

import warnings

from foregrad import _C
from foregrad.autograd.function import Function

Tensor = _C.Tensor


class BackwardHookFunction(Function):
    """The identity; hooks see gradients at its node."""

    @staticmethod
    def forward(ctx, *args):
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx, *args):
        return args


class BackwardHook:
    """Calls a module's hooks when the gradients of its outputs and of its inputs are there."""

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs = None
        self.inputs = self.outputs = None  # places of tensors; None: none needs a gradient
        self.n_inputs = self.n_outputs = -1

    def watch_inputs(self, args):
        """The arguments of a call, changed so that their gradients are seen."""
        result, self.inputs = self._through_identity(self._on_inputs, args)
        self.n_inputs = len(args)
        return result

    def watch_outputs(self, result):
        """The result of a call, changed so that its gradients are seen."""
        outputs = result if isinstance(result, tuple) else (result,)
        changed, self.outputs = self._through_identity(self._on_outputs, outputs)
        self.n_outputs = len(outputs)
        return changed if isinstance(result, tuple) else changed[0]

    def _through_identity(self, hook, args):
        places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        if not (_C.is_grad_enabled() and any(args[i].requires_grad for i in places)):
            return args, None
        passed = BackwardHookFunction.apply(*[args[i] for i in places])
        node = next(t.grad_fn for t in passed if t.grad_fn is not None)
        node.register_hook(hook)
        changed = list(args)
        for place, tensor in zip(places, passed):
            changed[place] = tensor
        made = tuple(changed) if type(args) is tuple else type(args)(*changed)
        return made, places

    def _on_inputs(self, grad_input, _):
        if self.grad_outputs is None:  # the gradient did not pass the outputs
            return None
        grads = _spread(self.inputs, grad_input, self.n_inputs)
        for hook in self.hooks:
            out = hook(self.module, grads, self.grad_outputs)
            if out is None:
                continue
            if len(out) != len(grads):
                raise RuntimeError("Backward hook returned an invalid number of grad_input, got "
                                   f"{len(out)}, but expected {len(grads)}")
            grads = out
        self.grad_outputs = None
        return tuple(grads[i] for i in self.inputs)

    def _on_outputs(self, _, grad_output):
        grads = _spread(self.outputs, grad_output, self.n_outputs)
        for hook in self.pre_hooks:
            out = hook(self.module, grads)
            if out is None:
                continue
            if len(out) != len(grads):
                raise RuntimeError("Backward pre hook returned an invalid number of grad_output, "
                                   f"got {len(out)}, but expected {len(grads)}")
            grads = out
        self.grad_outputs = grads
        if self.inputs is None:
            self._call_without_inputs(grads)
            self.grad_outputs = None
        return tuple(grads[i] for i in self.outputs)

    def _call_without_inputs(self, grad_outputs):
        warnings.warn("Full backward hook is firing when gradients are computed with respect to "
                      "module outputs since no inputs require gradients.", stacklevel=5)
        for hook in self.hooks:
            out = hook(self.module, (None,) * self.n_inputs, grad_outputs)
            if out is not None and not (isinstance(out, tuple) and all(x is None for x in out)):
                raise RuntimeError("Backward hook for Modules where no input requires gradient "
                                   "should always return None or None for all gradients.")


def _spread(places, values, size):
    """The values at their places, None elsewhere."""
    result = [None] * size
    for place, value in zip(places, values):
        result[place] = value
    return tuple(result)


def missed_by_regular_hook(args, result, node):
    """The reason why a hook on an output's node does not see all gradients of a call, or None."""
    outputs = (result,) if isinstance(result, Tensor) else result
    if not _are_tensors(outputs):
        return "the module returns no Tensor or tuple of Tensors, so it misses grad_output"
    if not _are_tensors(args):
        return "an argument of the module is no Tensor, so it misses grad_input"
    made_by = {one.grad_fn for one in outputs} - {None}
    if len(made_by) > 1:
        return "different functions made the outputs, so it misses grad_output"
    if made_by != {node}:
        return "outputs are nested, so it misses grad_output"
    if {arg.grad_fn for arg in args} - {None} != {after for after, _ in node.next_functions}:
        return "the forward has several functions, so grad_input is that of the last of them"
    return None


def _are_tensors(values):
    return isinstance(values, tuple) and all(isinstance(one, Tensor) for one in values)

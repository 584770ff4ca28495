"""compile_step(): forward, backward, clipping and an optimiser's update as one program."""

import functools

from foregrad import _C
from foregrad.compiler._compile import _name, compile
from foregrad.compiler._step_groups import as_groups
from foregrad.compiler._step_settings import SETTINGS

Tensor = _C.Tensor

# Optimisers without a formula for one step.
REFUSED = {
    "LBFGS": "LBFGS calls its loss several times per step, as often as values ask for, so a step "
             "is no one program; use foregrad.optim.LBFGS with a closure that is compiled",
    "SparseAdam": "SparseAdam needs sparse gradients, which do not exist here; use Adam"}


def _detached(leaf):
    return leaf.detach() if isinstance(leaf, Tensor) else leaf


def _step(loss_fn, rules, clip, args, kwargs):
    """The captured function: a step as a function of update rules, limits and data."""
    result = loss_fn(*args, **kwargs)
    loss = result[0] if isinstance(result, (tuple, list)) and result else result
    if not isinstance(loss, Tensor):
        raise TypeError(f"compile_step: the loss function returned a {type(loss).__name__}; return "
                        "the loss, a tensor, or a tuple that begins with it")
    return _C.map_leaves(result, _detached), *_C.take_step(loss, rules, clip)


class CompiledStep:
    """A training step. Calling it takes the arguments of the loss function.

    param_groups: as an optimiser of PyTorch has them. clip_norm, clip_value: may be changed, as may
    the settings in the groups. grad_norm: of the last call, before clipping; None without
    clip_norm.
    """

    def __init__(self, loss_fn, params, optimizer, clip_norm, clip_value, error_if_nonfinite,
                 options):
        if type(optimizer).__name__ in REFUSED and type(optimizer) not in SETTINGS.values():
            raise TypeError(f"compile_step: {REFUSED[type(optimizer).__name__]}")
        if type(optimizer) not in SETTINGS.values():
            *some, last = (f"{name}(...)" for name in SETTINGS)
            raise TypeError(f"compile_step: expected an optimizer {', '.join(some)} or {last} of "
                            f"foregrad.compiler, got {type(optimizer).__name__}")
        if not callable(loss_fn):
            raise TypeError(f"compile_step: expected a loss function, got {type(loss_fn).__name__}")
        self.clip_norm, self.clip_value = clip_norm, clip_value
        self.error_if_nonfinite = error_if_nonfinite
        self.grad_norm = None
        self._kind = type(optimizer)
        self.param_groups = as_groups(params, vars(optimizer))
        self._settings = list(vars(optimizer))
        self._state = _C.StepState([group["params"] for group in self.param_groups],
                                   self._optimizers())
        body = functools.partial(_step, loss_fn)
        body.__qualname__ = f"compile_step({_name(loss_fn)})"
        self._run = compile(body, **options)

    def __call__(self, *args, **kwargs):
        clip = _C.step_clip(self.clip_norm, self.clip_value, self.error_if_nonfinite)
        self._state.set_optimizers(self._optimizers())
        self._state.check_trained()
        rules = self._state.next_rules()
        result, self.grad_norm, updated = self._run(rules, clip, args, kwargs)
        self._state.advance(updated)
        return result

    def cache_key(self, *args, **kwargs):
        """The key under which the cache has, or would have, the program of a call."""
        clip = _C.step_clip(self.clip_norm, self.clip_value, self.error_if_nonfinite)
        self._state.set_optimizers(self._optimizers())
        return self._captured.cache_key(self._state.next_rules(), clip, args, kwargs)

    def explain(self, path=None):
        """A page of HTML about the program of a step, as that of compile(): written to `path` if
        there is one, and returned otherwise."""
        return self._captured.explain(path)

    def graphs(self):
        """The graphs of all versions by name, as those of compile()."""
        return self._captured.graphs()

    @property
    def _captured(self):
        if not hasattr(self._run, "compiled"):
            raise RuntimeError("compile_step: with disable=True nothing is compiled")
        return self._run

    def _optimizers(self):
        return [self._kind._native({name: group[name] for name in self._settings})
                for group in self.param_groups]

    @property
    def lr(self):
        """The rate of the first group; setting it sets that of all groups."""
        return self.param_groups[0]["lr"]

    @lr.setter
    def lr(self, lr):
        self._kind._native({**{name: self.param_groups[0][name] for name in self._settings},
                             "lr": lr})
        for group in self.param_groups:
            group["lr"] = lr

    @property
    def _parameters(self):
        return [parameter for group in self.param_groups for parameter in group["params"]]

    @property
    def state(self):
        """The state of the updated parameters: by parameter, then by PyTorch's names."""
        found = {p: self._state.state(i) for i, p in enumerate(self._parameters)}
        return {parameter: state for parameter, state in found.items() if state}

    def state_dict(self):
        """As an optimiser of PyTorch gives it: parameters are numbers. Tensors are not copied."""
        groups, first = [], 0
        for group in self.param_groups:
            count = len(group["params"])
            groups.append({**group, "params": list(range(first, first + count))})
            first += count
        states = {i: self._state.state(i) for i in range(first)}
        return {"state": {i: state for i, state in states.items() if state},
                "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Takes over the settings, and copies the state of parameters at equal places."""
        saved = state_dict["param_groups"]
        sizes = [len(group["params"]) for group in saved]
        if sizes != [len(group["params"]) for group in self.param_groups]:
            raise ValueError("compile_step: loaded state dict contains a parameter group that "
                             "doesn't match the size of optimizer's group: it has groups of "
                             f"{sizes} parameters, this step of "
                             f"{[len(group['params']) for group in self.param_groups]}")
        settings = [{name: group[name] for name in self._settings if name in group}
                    for group in saved]
        for group, loaded in zip(self.param_groups, settings):
            self._kind._native({**{name: group[name] for name in self._settings}, **loaded})
        for group, loaded in zip(self.param_groups, settings):
            group.update(loaded)
        numbers = [number for group in saved for number in group["params"]]
        self._state.set_optimizers(self._optimizers())
        for i, number in enumerate(numbers):
            self._state.load(i, state_dict["state"].get(number, {}))


def compile_step(loss_fn, params, optimizer, *, clip_norm=None, clip_value=None,
                 error_if_nonfinite=False, fullgraph=False, backend=None, disable=False):
    """A training step as one compiled program: forward, backward, clipping, update in place.

    loss_fn: a function of the data that reaches the parameters by itself (a closure, a method); it
    returns the loss, or a tuple that begins with it. params: tensors, a dictionary of them, an
    object with parameters(), or groups: dictionaries with settings of their own. The step takes the
    arguments of loss_fn and returns what it returns, detached.

    Changing `lr` captures nothing anew. Parameters that get no gradient are left alone; their field
    .grad is neither read nor written.
    """
    return CompiledStep(loss_fn, params, optimizer, clip_norm, clip_value, error_if_nonfinite,
                        {"fullgraph": fullgraph, "backend": backend, "disable": disable})

"""The optimisers of the native table, as classes with PyTorch's constructors."""

import foregrad
from foregrad import _C
from foregrad._optimizers import MODES, documentation_of, made_class, native_settings, table
from foregrad.autograd._modes import enable_grad, set_grad_enabled
from foregrad.optim.optimizer import Optimizer

Tensor = _C.Tensor


class NativeOptimizer(Optimizer):
    """An optimiser whose formula the library has: one native call updates a whole group."""

    _row = {}  # of the table

    def _begin(self, params, defaults):
        _check_tensors(self._row["name"], defaults)
        # Refuses wrong settings before it looks at parameters, as PyTorch does.
        native_settings(self._row, {**self._row["settings"], **defaults})
        Optimizer.__init__(self, params, {**defaults, **self._row["fixed"]})
        if defaults.get("fused"):
            if defaults.get("differentiable"):
                raise RuntimeError("`fused` does not support `differentiable`")
            if defaults.get("foreach"):
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
            self._step_supports_amp_scaling = True

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        try:
            settings = native_settings(self._row, param_group)
            for parameter in param_group["params"]:
                _C.optimizer_check(settings, parameter)
        except Exception:
            self.param_groups.pop()
            raise
        if self._row["begins_early"]:
            for parameter in param_group["params"]:
                _C.optimizer_begin(settings, parameter, self.state[parameter])

    def step(self, closure=None):
        """Updates the parameters that have a gradient; closure() computes the loss anew."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._update(group)
        return loss

    def _update(self, group):
        settings = native_settings(self._row, group)
        if group.get("capturable"):
            raise AssertionError(f"{self._row['name']}: If capturable=True, params and state_steps "
                                 "must be on supported devices: ['cuda', 'xpu', 'hpu']; parameters "
                                 "are on the CPU here, leave capturable out")
        if not group.get("differentiable"):
            _C.optimizer_update(settings, group["params"], self.state)
            return
        if group.get("foreach"):
            raise AssertionError("_foreach ops don't support autograd; leave foreach out")
        rate = group["lr"] if _has_gradient(group["lr"]) else None
        others = [name for name in self._row["settings"]
                  if name != "lr" and _has_gradient(group[name])]
        if others:
            raise NotImplementedError(f"{self._row['name']}: gradients reach lr alone of the "
                                      f"settings, but {others[0]} requires grad; detach it")
        with set_grad_enabled(True):
            _C.optimizer_update(settings, group["params"], self.state, recorded=True, rate=rate)

    def __setstate__(self, state):
        super().__setstate__(state)
        modes = {name: MODES[name] for name in self._row["modes"]}
        for group in self.param_groups:
            group.update(self._row["fixed"])
            for name, default in {**modes, **self._row["settings"]}.items():
                group.setdefault(name, default)
            for parameter in group["params"]:
                self._count_in_tensors(parameter)

    def _count_in_tensors(self, parameter):
        """Counts of old files are plain numbers."""
        kept = self.state.get(parameter, {})
        for name in self._row["numbers"]:
            if name in kept and not isinstance(kept[name], Tensor):
                dtype = _C.float64 if _C.get_default_dtype() == _C.float64 else _C.float32
                kept[name] = foregrad.tensor(float(kept[name]), dtype=dtype)


def _has_gradient(value):
    if isinstance(value, (tuple, list)):
        return any(map(_has_gradient, value))
    return isinstance(value, Tensor) and value.requires_grad


def _check_tensors(who, settings):
    """Settings may be tensors of one element."""
    for name, value in settings.items():
        for each in value if isinstance(value, (tuple, list)) else [value]:
            if not isinstance(each, Tensor):
                continue
            if settings.get("foreach") and not settings.get("capturable") and "Adam" in who:
                raise ValueError(f"{name} as a Tensor is not supported for capturable=False and "
                                 "foreach=True")
            if each.numel() != 1:
                raise ValueError(f"Tensor {name} must be 1-element")


# Defaults as PyTorch writes and prints them, where zeros are no integers or other numbers are.
WRITTEN = {"Adafactor": {"weight_decay": 0.0}, "Rprop": {"step_sizes": (1e-6, 50)}}


def _made(row, known):
    parameters = ["params", *row["parameters"].split(", ")]
    settings = {name: 0 if type(value) is float and value == 0 else value
                for name, value in row["settings"].items()}
    settings.update(WRITTEN.get(row["name"], {}))
    defaults = {name: value for name, value in {**MODES, **settings}.items() if name in parameters}
    row["modes"] = [name for name in MODES if name in parameters]
    base = known[row["base"]] if row["base"] else NativeOptimizer
    members = {"_row": row, "__doc__": documentation_of(row)}
    return made_class(row["name"], base, parameters, defaults, "foregrad.optim", members)


OPTIMIZERS = {}
for _row in table().values():
    OPTIMIZERS[_row["name"]] = _made(_row, OPTIMIZERS)

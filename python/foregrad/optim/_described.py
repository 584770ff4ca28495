"""The optimisers of the native table, as classes with PyTorch's constructors."""

from foregrad import _C
from foregrad._optimizers import MODES, documentation_of, made_class, native_settings, table
from foregrad.autograd._modes import enable_grad
from foregrad.optim.optimizer import Optimizer


class NativeOptimizer(Optimizer):
    """An optimiser whose formula the library has: one native call updates a whole group."""

    _row = {}  # of the table

    def _begin(self, params, defaults):
        for mode in ("capturable", "differentiable"):
            if defaults.get(mode):
                raise NotImplementedError(f"{self._row['name']}: {mode}=True is not here; leave it "
                                          "out")
        Optimizer.__init__(self, params, {**defaults, **self._row["fixed"]})

    def add_param_group(self, param_group):
        settings = None
        if isinstance(param_group, dict):
            # refuses wrong settings
            settings = native_settings(self._row, {**self.defaults, **param_group})
        super().add_param_group(param_group)
        if self._row["begins_at"]:  # PyTorch makes such state before the first step
            for parameter in self.param_groups[-1]["params"]:
                _C.optimizer_begin(settings, parameter, self.state[parameter])

    def step(self, closure=None):
        """Updates the parameters that have a gradient; closure() computes the loss anew."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            if params:
                self._update(group, params)
        return loss

    def _update(self, group, params):
        settings = native_settings(self._row, group)
        keeps = _C.optimizer_keeps_state(settings)
        states = [self.state[p] for p in params] if keeps else [{}] * len(params)
        _C.optimizer_update(settings, params, states)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group.update(self._row["fixed"])


def _made(row, known):
    parameters = ["params", *row["parameters"].split(", ")]
    # PyTorch writes a default of zero as an integer, and prints it so.
    settings = {name: 0 if type(value) is float and value == 0 else value
                for name, value in row["settings"].items()}
    defaults = {name: value for name, value in {**MODES, **settings}.items() if name in parameters}
    base = known[row["base"]] if row["base"] else NativeOptimizer
    members = {"_row": row, "__doc__": documentation_of(row)}
    return made_class(row["name"], base, parameters, defaults, "foregrad.optim", members)


OPTIMIZERS = {}
for _row in table().values():
    OPTIMIZERS[_row["name"]] = _made(_row, OPTIMIZERS)

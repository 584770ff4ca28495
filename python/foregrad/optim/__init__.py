"""Optimisers, schedules of their learning rate, and averages of weights."""

import sys
import types

from foregrad.optim import lr_scheduler, swa_utils  # noqa: F401
from foregrad.optim._described import OPTIMIZERS
from foregrad.optim._swap import swap_in_optimizer_params_and_state
from foregrad.optim.lbfgs import LBFGS  # noqa: F401
from foregrad.optim.optimizer import Optimizer  # noqa: F401
from foregrad.optim.sparse_adam import SparseAdam  # noqa: F401

globals().update(OPTIMIZERS)
# PyTorch has each in a module of its own: `from foregrad.optim.adam import Adam`.
for _name, _class in OPTIMIZERS.items():
    _file = {"Adafactor": "_adafactor", "Muon": "_muon"}.get(_name, _name.lower())
    _module = types.ModuleType(f"{__name__}.{_file}", _class.__doc__)
    setattr(_module, _name, _class)
    sys.modules[_module.__name__] = globals()[_file] = _module
LBFGS.__module__ = SparseAdam.__module__ = __name__
swap_in_optimizer_params_and_state.__module__ = __name__

__all__ = [*OPTIMIZERS, "LBFGS", "Optimizer", "SparseAdam", "lr_scheduler",
           "swap_in_optimizer_params_and_state", "swa_utils"]

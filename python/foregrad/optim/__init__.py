"""Optimisers and schedules of their learning rate."""

import sys
import types

from foregrad.optim import lr_scheduler  # noqa: F401
from foregrad.optim._described import OPTIMIZERS
from foregrad.optim.optimizer import Optimizer  # noqa: F401

globals().update(OPTIMIZERS)
# PyTorch has each in a module of its own: `from foregrad.optim.adam import Adam`.
for _name, _class in OPTIMIZERS.items():
    _module = types.ModuleType(f"{__name__}.{_name.lower()}", _class.__doc__)
    setattr(_module, _name, _class)
    sys.modules[_module.__name__] = globals()[_name.lower()] = _module

__all__ = [*OPTIMIZERS, "Optimizer", "lr_scheduler"]

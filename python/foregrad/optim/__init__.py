"""Optimisers and schedules of their learning rate."""

from foregrad.optim import lr_scheduler  # noqa: F401
from foregrad.optim._described import OPTIMIZERS
from foregrad.optim.optimizer import Optimizer  # noqa: F401

globals().update(OPTIMIZERS)

__all__ = [*OPTIMIZERS, "Optimizer", "lr_scheduler"]

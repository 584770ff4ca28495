"""Optimisers and schedules of their learning rate."""

from foregrad.optim import lr_scheduler  # noqa: F401
from foregrad.optim.adam import Adam, AdamW  # noqa: F401
from foregrad.optim.optimizer import Optimizer  # noqa: F401
from foregrad.optim.sgd import SGD  # noqa: F401

__all__ = ["Adam", "AdamW", "Optimizer", "SGD", "lr_scheduler"]

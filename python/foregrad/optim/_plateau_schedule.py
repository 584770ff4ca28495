"""ReduceLROnPlateau, which watches a number."""

from __future__ import annotations

import math
import warnings

from foregrad.optim.lr_scheduler import (
    EPOCH_DEPRECATION_WARNING,
    LRScheduler,
    _check_optimizer,
    _per_group,
    _set_value,
)

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from foregrad.compiler import CompiledStep
    from foregrad.optim.optimizer import Optimizer
    from typing import SupportsFloat

    _Optimizer = Optimizer | CompiledStep


class ReduceLROnPlateau(LRScheduler):
    """Times a factor when a number has not become better for a while."""

    def __init__(self, optimizer: _Optimizer, mode: str = "min", factor: float = 0.1,
                 patience: int = 10, threshold: float = 1e-4, threshold_mode: str = "rel",
                 cooldown: int = 0, min_lr: float | Sequence[float] = 0, eps: float = 1e-8) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        _check_optimizer(optimizer)
        self.optimizer, self.factor, self.patience = optimizer, factor, patience
        if isinstance(min_lr, (list, tuple)) and len(min_lr) != len(optimizer.param_groups):
            raise ValueError(f"expected {len(optimizer.param_groups)} min_lrs, got {len(min_lr)}")
        self.min_lrs = _per_group("min_lr", optimizer, min_lr)
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.cooldown, self.eps, self.last_epoch = cooldown, eps, 0
        self._last_lr = self._rates()
        self._take_mode(mode, threshold, threshold_mode)
        self._reset()

    def _take_mode(self, mode, threshold, threshold_mode):
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf

    def load_state_dict(self, state_dict):
        """Takes what state_dict() returned."""
        super().load_state_dict(state_dict)
        self._take_mode(self.mode, self.threshold, self.threshold_mode)

    def _reset(self):
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether bad epochs are not counted now."""
        return self.cooldown_counter > 0

    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:
        """Looks at the number that is watched."""
        current = float(metrics)
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def _is_better(self, value):
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "abs":
            limit = self.best + sign * self.threshold
        else:
            limit = self.best * (1.0 + sign * self.threshold)
        return value > limit if self.mode == "max" else value < limit

    def _reduce(self):
        groups = self.optimizer.param_groups
        if len(self.min_lrs) != len(groups) and self.default_min_lr is not None:
            self.min_lrs = [self.default_min_lr] * len(groups)
        if len(self.min_lrs) != len(groups):
            raise RuntimeError(f"The number of param groups in the `optimizer` ({len(groups)}) "
                               "differs from when `ReduceLROnPlateau` was initialized "
                               f"({len(self.min_lrs)}). Please modify the `min_lrs` field.")
        for group, least in zip(groups, self.min_lrs):
            rate = float(group["lr"])
            lower = max(rate * self.factor, least)
            if rate - lower > self.eps:
                _set_value(group, "lr", lower)

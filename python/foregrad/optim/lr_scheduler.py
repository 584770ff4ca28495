"""Schedules of the learning rate. They work on optimisers, and on steps of compile_step().

As in PyTorch most of them change the rate that is there, so that two can be used together.
"""

from __future__ import annotations

import math
import types
import warnings
from bisect import bisect_right
from collections import Counter

from foregrad import _C
from foregrad.optim.optimizer import Optimizer

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from foregrad import Tensor
    from foregrad.compiler import CompiledStep
    from typing import Any

    _Optimizer = Optimizer | CompiledStep
    _Factor = Callable[[int], float]

__all__ = ["ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
           "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
           "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR",
           "StepLR"]

Tensor = _C.Tensor

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
    "epoch is different from None, the closed form is used instead of the new chainable form, "
    "where available.")


def _check_optimizer(optimizer):
    if not hasattr(optimizer, "param_groups"):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _copied(value):
    return value.clone() if isinstance(value, Tensor) else value


def _of_groups(optimizer, key):
    """The values of a setting; those that are tensors as copies."""
    return [_copied(group[key]) for group in optimizer.param_groups]


def _set_value(group, key, value):
    """Changes a setting; a tensor stays the same one."""
    if isinstance(group[key], Tensor):
        group[key].fill_(value)
    else:
        group[key] = value


def _per_group(name, optimizer, value):
    """A value for each group, of one for all or a list."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [_copied(value) for _ in range(count)]
    if len(value) != count:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has "
                         f"{len(value)} values, param_groups has {count}.")
    return [_copied(one) for one in value]


class LRScheduler:
    """The base of all schedules: step() sets the rate of every group of parameters."""

    optimizer: _Optimizer
    base_lrs: list[float | Tensor]
    last_epoch: int

    _is_initial = False
    _get_lr_called_within_step = False

    def __init__(self, optimizer: _Optimizer, last_epoch: int = -1) -> None:
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when "
                               "resuming scheduler with last_epoch >= 0.")
        self.base_lrs = _of_groups(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        if isinstance(optimizer, Optimizer):
            optimizer._step_of_schedule = vars(optimizer).get("step")
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All of the schedule but its optimiser."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what state_dict() returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[float | Tensor]:
        """The rates that step() set."""
        return self._last_lr

    def get_lr(self) -> list[float | Tensor]:
        """The rates of the groups at self.last_epoch."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Goes on by one, or to an epoch, which is deprecated."""
        if self._step_count == 1:
            self._warn_of_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _warn_of_order(self):
        if not isinstance(self.optimizer, Optimizer):
            return
        if vars(self.optimizer).get("step") is not getattr(
                self.optimizer, "_step_of_schedule", None):
            warnings.warn("Seems like `optimizer.step()` has been overridden after learning rate "
                          "scheduler initialization. Please, make sure to call `optimizer.step()` "
                          "before `lr_scheduler.step()`.", UserWarning, stacklevel=3)
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn("Detected call of `lr_scheduler.step()` before `optimizer.step()`: the "
                          "first value of the learning rate schedule is skipped. Call them in the "
                          "opposite order.", UserWarning, stacklevel=3)

    def _update_lr(self, epoch=None):
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = getattr(self, "_get_closed_form_lr", None)
        self._set(self._now() if epoch is None or closed is None else closed())

    def _now(self):
        """get_lr() without its warning."""
        self._get_lr_called_within_step = True
        try:
            return self.get_lr()
        finally:
            self._get_lr_called_within_step = False

    def _warn_outside_step(self):
        if not self._get_lr_called_within_step:
            warnings.warn("To get the last learning rate computed by the scheduler, please use "
                          "`get_last_lr()`.", UserWarning, stacklevel=3)

    def _set(self, rates):
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            _set_value(group, "lr", lr)
        self._last_lr = self._rates()

    def _rates(self, factor=None):
        """The rates that are there, times a factor if there is one."""
        if factor is None:
            return _of_groups(self.optimizer, "lr")
        return [group["lr"] * factor for group in self.optimizer.param_groups]


class _LRScheduler(LRScheduler):
    """The old name of the base."""


class _OfFunctions(LRScheduler):
    """A function of the epoch for each group."""

    def __init__(self, optimizer: _Optimizer, lr_lambda: _Factor | Sequence[_Factor],
                 last_epoch: int = -1) -> None:
        _check_optimizer(optimizer)
        count = len(optimizer.param_groups)
        many = isinstance(lr_lambda, (list, tuple))
        if many and len(lr_lambda) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
        self.lr_lambdas = list(lr_lambda) if many else [lr_lambda] * count
        for each in self.lr_lambdas:
            if not callable(each):
                raise TypeError(f"lr_lambda should be a function, but got {type(each).__name__}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        """All but the optimiser; functions are left out, objects give their attributes."""
        state = super().state_dict()
        state["lr_lambdas"] = [None if isinstance(f, types.FunctionType) else dict(f.__dict__)
                               for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict):
        """Takes what state_dict() returned; the functions stay."""
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if attributes is not None:
                function.__dict__.update(attributes)
        super().load_state_dict({**state_dict, "lr_lambdas": self.lr_lambdas})


class LambdaLR(_OfFunctions):
    """The first rate times a function of the epoch."""

    def get_lr(self):
        self._warn_outside_step()
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(_OfFunctions):
    """The last rate times a function of the epoch."""

    def get_lr(self):
        self._warn_outside_step()
        if self._is_initial:
            return self._rates()
        return [lr * f(self.last_epoch) for f, lr in zip(self.lr_lambdas, self._rates())]


class StepLR(LRScheduler):
    """Times gamma every step_size epochs."""

    def __init__(self, optimizer: _Optimizer, step_size: int, gamma: float = 0.1,
                 last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._rates()
        return self._rates(self.gamma)

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times gamma at every milestone."""

    def __init__(self, optimizer: _Optimizer, milestones: Iterable[int], gamma: float = 0.1,
                 last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self.last_epoch not in self.milestones:
            return self._rates()
        return self._rates(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma ** passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Times a factor for the first epochs."""

    def __init__(self, optimizer: _Optimizer, factor: float = 1.0 / 3, total_iters: int = 5,
                 last_epoch: int = -1) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._rates(self.factor)
        if self.last_epoch != self.total_iters:
            return self._rates()
        return self._rates(1.0 / self.factor)

    def _get_closed_form_lr(self):
        over = self.last_epoch >= self.total_iters
        return [base * (self.factor + over * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """Times a factor that goes in a straight line from one value to another."""

    def __init__(self, optimizer: _Optimizer, start_factor: float = 1.0 / 3,
                 end_factor: float = 1.0, total_iters: int = 5, last_epoch: int = -1) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and "
                             "less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._rates(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        rise = self.end_factor - self.start_factor
        return self._rates(1.0 + rise / (self.total_iters * self.start_factor
                                         + (self.last_epoch - 1) * rise))

    def _get_closed_form_lr(self):
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        rise = self.end_factor - self.start_factor
        return [base * (self.start_factor + rise * part) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times gamma every epoch."""

    def __init__(self, optimizer: _Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        return self._rates(None if self._is_initial else self.gamma)

    def _get_closed_form_lr(self):
        return [base * self.gamma ** self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Down along a power of what is left of total_iters."""

    def __init__(self, optimizer: _Optimizer, total_iters: int = 5, power: float = 1.0,
                 last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return self._rates((left / before) ** self.power)

    def _get_closed_form_lr(self):
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """A rate that goes down along a cosine until T_max, and up again."""

    def __init__(self, optimizer: _Optimizer, T_max: int, eta_min: float = 0.0,
                 last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        at, end = self.last_epoch, self.T_max
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and at > 0:
            return self._get_closed_form_lr()
        if (at - 1 - end) % (2 * end) == 0:
            return [lr + (base - self.eta_min) * (1 - math.cos(math.pi / end)) / 2
                    for base, lr in zip(self.base_lrs, self._rates())]
        change = (1 + math.cos(math.pi * at / end)) / (1 + math.cos(math.pi * (at - 1) / end))
        return [change * (lr - self.eta_min) + self.eta_min for lr in self._rates()]

    def _get_closed_form_lr(self):
        part = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * part for base in self.base_lrs]


from foregrad.optim._combined_schedules import ChainedScheduler, SequentialLR  # noqa: E402,F401
from foregrad.optim._cyclic_schedules import (  # noqa: E402,F401
    CosineAnnealingWarmRestarts,
    CyclicLR,
    OneCycleLR,
)
from foregrad.optim._plateau_schedule import ReduceLROnPlateau  # noqa: E402,F401

"""Schedules of the learning rate. They work on optimisers, and on steps of compile_step().

As in PyTorch most of them change the rate that is there, so that two can be used together.
"""

from __future__ import annotations

import math
import types
import warnings
from bisect import bisect_right
from collections import Counter

from foregrad.optim.optimizer import Optimizer

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from foregrad.compiler import CompiledStep
    from typing import Any

    _Optimizer = Optimizer | CompiledStep
    _Factor = Callable[[int], float]

__all__ = ["ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "ExponentialLR",
           "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR",
           "ReduceLROnPlateau", "SequentialLR", "StepLR"]


def _check_optimizer(optimizer):
    if not hasattr(optimizer, "param_groups"):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


class LRScheduler:
    """The base of all schedules: step() sets the rate of every group of parameters."""

    optimizer: _Optimizer
    base_lrs: list[float]
    last_epoch: int

    _is_initial = False

    def __init__(self, optimizer: _Optimizer, last_epoch: int = -1) -> None:
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when "
                               "resuming scheduler with last_epoch >= 0.")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
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

    def get_last_lr(self) -> list[float]:
        """The rates that step() set."""
        return self._last_lr

    def get_lr(self) -> list[float]:
        """The rates of the groups at self.last_epoch."""
        raise NotImplementedError(f"{type(self).__name__} has no get_lr()")

    def step(self, epoch: Any = None) -> None:
        """Goes on by one, or to an epoch."""
        if (self._step_count == 1 and isinstance(self.optimizer, Optimizer)
                and not getattr(self.optimizer, "_opt_called", False)):
            warnings.warn("Detected call of `lr_scheduler.step()` before `optimizer.step()`: the "
                          "first value of the learning rate schedule is skipped. Call them in the "
                          "opposite order.", UserWarning, stacklevel=2)
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = getattr(self, "_get_closed_form_lr", None)
        self._set(self.get_lr() if epoch is None or closed is None else closed())

    def _set(self, rates):
        for group, lr in zip(self.optimizer.param_groups, rates):
            group["lr"] = lr
        self._last_lr = self._rates()

    def _rates(self, factor=None):
        """The rates that are there, times a factor if there is one."""
        groups = self.optimizer.param_groups
        if factor is None:
            return [group["lr"] for group in groups]
        return [group["lr"] * factor for group in groups]


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
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(_OfFunctions):
    """The last rate times a function of the epoch."""

    def get_lr(self):
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
        return self._rates(None if self._is_initial else self.gamma)

    def _get_closed_form_lr(self):
        return [base * self.gamma ** self.last_epoch for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """A rate that goes down along a cosine until T_max, and up again."""

    def __init__(self, optimizer: _Optimizer, T_max: int, eta_min: float = 0.0,
                 last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
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


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down along a cosine, again and again, each time T_mult times as long."""

    def __init__(self, optimizer: _Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
                 last_epoch: int = -1) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        part = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * part / 2 for base in self.base_lrs]

    def step(self, epoch=None):
        """Goes on by one, or to an epoch, which may be a fraction."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur % self.T_i, self.T_i * self.T_mult
        else:
            epoch = 0 if epoch is None else epoch
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())

    def _go_to(self, epoch):
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult ** n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult ** n


class SequentialLR(LRScheduler):
    """One schedule after the other; milestones say when the next one begins."""

    def __init__(self, optimizer: _Optimizer, schedulers: Sequence[LRScheduler],
                 milestones: Sequence[int], last_epoch: int = -1) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        if any(one.optimizer is not optimizer for one in schedulers):
            raise ValueError("SequentialLR expects all schedulers to belong to the same optimizer")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects number of schedulers provided to be "
                             "one more than the number of milestone points, but got number of "
                             f"schedulers {len(schedulers)} and the number of milestones to be "
                             f"equal to {len(milestones)}")
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch, self.optimizer = last_epoch + 1, optimizer
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for one in schedulers:  # each has taken its first step: that is taken back
            one.last_epoch -= 1
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self) -> None:
        """Goes on by one."""
        self.last_epoch += 1
        place = bisect_right(self._milestones, self.last_epoch)
        current = self._schedulers[place]
        if place > 0 and self._milestones[place - 1] == self.last_epoch:
            current._update_lr(0) if type(current).step is LRScheduler.step else current.step(0)
        else:
            current.step()
        self._last_lr = current.get_last_lr()

    def state_dict(self):
        """All but the optimiser, with the states of the schedules."""
        state = super().state_dict()
        state["_schedulers"] = [one.state_dict() for one in self._schedulers]
        return state

    def load_state_dict(self, state_dict):
        """Takes what state_dict() returned."""
        for one, state in zip(self._schedulers, state_dict["_schedulers"]):
            one.load_state_dict(state)
        super().load_state_dict({**state_dict, "_schedulers": self._schedulers})


from foregrad.optim._adaptive_schedules import (  # noqa: E402,F401
    OneCycleLR,
    ReduceLROnPlateau,
)

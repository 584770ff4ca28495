"""OneCycleLR, which moves the momentum too, and ReduceLROnPlateau, which watches a number."""

from __future__ import annotations

import math

from foregrad.optim.lr_scheduler import LRScheduler, _check_optimizer

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from foregrad.compiler import CompiledStep
    from foregrad.optim.optimizer import Optimizer
    from typing import SupportsFloat

    _Optimizer = Optimizer | CompiledStep


def _per_group(name, optimizer, value):
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has "
                         f"{len(value)} values, param_groups has {count}.")
    return list(value)


def _cosine(start, end, part):
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _linear(start, end, part):
    return (end - start) * part + start


class OneCycleLR(LRScheduler):
    """Up to max_lr and down again, far below where it began."""

    def __init__(self, optimizer: _Optimizer, max_lr: float | Sequence[float],
                 total_steps: int | None = None, epochs: int | None = None,
                 steps_per_epoch: int | None = None, pct_start: float = 0.3,
                 anneal_strategy: str = "cos", cycle_momentum: bool = True,
                 base_momentum: float | Sequence[float] = 0.85,
                 max_momentum: float | Sequence[float] = 0.95, div_factor: float = 25.0,
                 final_div_factor: float = 1e4, three_phase: bool = False,
                 last_epoch: int = -1) -> None:
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError("anneal_strategy must be one of 'cos' or 'linear', instead got "
                             f"{anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        self._schedule_phases = self._phases(pct_start, three_phase)
        if last_epoch == -1:
            rates = _per_group("max_lr", optimizer, max_lr)
            for group, rate in zip(optimizer.param_groups, rates):
                group["initial_lr"], group["max_lr"] = rate / div_factor, rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _phases(self, part, three):
        """(last step, rates, momenta) of each; the latter by their names in a group."""
        end = self.total_steps - 1
        up = (float(part * self.total_steps) - 1, ("initial_lr", "max_lr"),
              ("max_momentum", "base_momentum"))
        if not three:
            return [up, (end, ("max_lr", "min_lr"), ("base_momentum", "max_momentum"))]
        down = (float(2 * part * self.total_steps) - 2, ("max_lr", "initial_lr"),
                ("base_momentum", "max_momentum"))
        return [up, down, (end, ("initial_lr", "min_lr"), ("max_momentum", "max_momentum"))]

    def _begin_momentum(self, base_momentum, max_momentum, last_epoch):
        groups = self.optimizer.param_groups
        if not any(name in groups[0] for name in ("momentum", "betas")):
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` "
                             "option enabled")
        self.use_beta1 = "betas" in groups[0]
        if last_epoch != -1:
            return
        low = _per_group("base_momentum", self.optimizer, base_momentum)
        high = _per_group("max_momentum", self.optimizer, max_momentum)
        for group, least, most in zip(groups, low, high):
            self._set_momentum(group, most)
            group["max_momentum"], group["base_momentum"] = most, least

    def _set_momentum(self, group, value):
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value

    def get_lr(self):
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is "
                             f"{self.total_steps}")
        start, last = 0.0, len(self._schedule_phases) - 1
        for i, (end, rates, momenta) in enumerate(self._schedule_phases):
            if step <= end or i == last:
                break
            start = end
        part = (step - start) / (end - start)
        between = _cosine if self._anneal_func_type == "cos" else _linear
        found = []
        for group in self.optimizer.param_groups:
            found.append(between(group[rates[0]], group[rates[1]], part))
            if self.cycle_momentum:
                self._set_momentum(group, between(group[momenta[0]], group[momenta[1]], part))
        return found


def _total(total_steps, epochs, steps_per_epoch):
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    given = {"total_steps": total_steps} if total_steps is not None else {
        "epochs": epochs, "steps_per_epoch": steps_per_epoch}
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(given.values())


class ReduceLROnPlateau(LRScheduler):
    """Times a factor when a number has not become better for a while."""

    def __init__(self, optimizer: _Optimizer, mode: str = "min", factor: float = 0.1,
                 patience: int = 10, threshold: float = 1e-4, threshold_mode: str = "rel",
                 cooldown: int = 0, min_lr: float | Sequence[float] = 0, eps: float = 1e-8) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        _check_optimizer(optimizer)
        self.optimizer, self.factor, self.patience = optimizer, factor, patience
        self.min_lrs = _per_group("min_lr", optimizer, min_lr)
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.cooldown, self.eps, self.last_epoch = cooldown, eps, 0
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self._last_lr = self._rates()
        self._reset()

    def _reset(self):
        self.best = math.inf if self.mode == "min" else -math.inf
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether bad epochs are not counted now."""
        return self.cooldown_counter > 0

    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:
        """Looks at the number that is watched."""
        current = float(metrics)
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
            lower = max(group["lr"] * self.factor, least)
            if group["lr"] - lower > self.eps:
                group["lr"] = lower

"""Schedules that go up and down: OneCycleLR and CyclicLR, which move the momentum too, and
CosineAnnealingWarmRestarts."""

from __future__ import annotations

import math
import types

from foregrad.optim.lr_scheduler import LRScheduler, _check_optimizer, _per_group, _set_value

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from foregrad.compiler import CompiledStep
    from foregrad.optim.optimizer import Optimizer

    _Optimizer = Optimizer | CompiledStep


def _cosine(start, end, part):
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _linear(start, end, part):
    return (end - start) * part + start


def _set_momentum(group, use_beta1, value):
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def _begin_momentum(optimizer, base_momentum, max_momentum, fresh):
    """The least and largest momentum of each group, and whether it is the first beta."""
    groups = optimizer.param_groups
    if not any(name in groups[0] for name in ("momentum", "betas")):
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option "
                         "enabled")
    use_beta1 = "betas" in groups[0]
    low = _per_group("base_momentum", optimizer, base_momentum)
    high = _per_group("max_momentum", optimizer, max_momentum)
    for group, least, most in zip(groups, low, high) if fresh else ():
        _set_momentum(group, use_beta1, most)
        group["max_momentum"], group["base_momentum"] = most, least
    return low, high, use_beta1


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
            self.use_beta1 = _begin_momentum(optimizer, base_momentum, max_momentum,
                                             last_epoch == -1)[2]
        super().__init__(optimizer, last_epoch)

    def _phases(self, part, three):
        """The last step of each, and names of its rates and momenta in a group."""
        end, up, size = self.total_steps - 1, ("initial_lr", "max_lr"), self.total_steps
        high, low = "max_momentum", "base_momentum"
        first = _phase(float(part * size) - 1, up, (high, low))
        if not three:
            return [first, _phase(end, ("max_lr", "min_lr"), (low, high))]
        return [first, _phase(float(2 * part * size) - 2, up[::-1], (low, high)),
                _phase(end, ("initial_lr", "min_lr"), (high, high))]

    def get_lr(self):
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is "
                             f"{self.total_steps}")
        start, last = 0.0, len(self._schedule_phases) - 1
        for i, phase in enumerate(self._schedule_phases):
            if step <= phase["end_step"] or i == last:
                break
            start = phase["end_step"]
        part = (step - start) / (phase["end_step"] - start)
        between = _cosine if self._anneal_func_type == "cos" else _linear
        found = []
        for group in self.optimizer.param_groups:
            found.append(between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                _set_momentum(group, self.use_beta1, between(
                    group[phase["start_momentum"]], group[phase["end_momentum"]], part))
        return found


def _phase(end, rates, momenta):
    return {"end_step": end, "start_lr": rates[0], "end_lr": rates[1],
            "start_momentum": momenta[0], "end_momentum": momenta[1]}


def _total(total_steps, epochs, steps_per_epoch):
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    given = {"total_steps": total_steps} if total_steps is not None else {
        "epochs": epochs, "steps_per_epoch": steps_per_epoch}
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(given.values())




class CyclicLR(LRScheduler):
    """Up to max_lr and down to base_lr in straight lines, again and again."""

    def __init__(self, optimizer: _Optimizer, base_lr: float | Sequence[float],
                 max_lr: float | Sequence[float], step_size_up: int = 2000,
                 step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
                 scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle",
                 cycle_momentum: bool = True, base_momentum: float | Sequence[float] = 0.8,
                 max_momentum: float | Sequence[float] = 0.9, last_epoch: int = -1) -> None:
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = _per_group("base_lr", optimizer, base_lr)
        for lr, group in zip(base_lrs, optimizer.param_groups) if last_epoch == -1 else ():
            _set_value(group, "lr", lr)
        self.max_lrs = _per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom, self.scale_mode = scale_fn, scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums, self.use_beta1 = _begin_momentum(
                optimizer, base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """The height of a cycle, or of an iteration, as a part of the first one."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return self.gamma ** x if self.mode == "exp_range" else 1 / 2.0 ** (x - 1)

    def get_lr(self):
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        ratio = self.step_ratio
        height = x / ratio if x <= ratio else (x - 1) / (ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums,
                                        self.max_momentums):
                _set_momentum(group, self.use_beta1, high - (high - low) * height * scale)
        return [low + (high - low) * height * scale
                for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self):
        """All but the optimiser; a function is left out, an object gives its attributes."""
        state = super().state_dict()
        custom = state["_scale_fn_custom"]
        is_object = custom is not None and not isinstance(custom, types.FunctionType)
        state["_scale_fn_custom"] = dict(custom.__dict__) if is_object else None
        return state

    def load_state_dict(self, state_dict):
        """Takes what state_dict() returned; the function stays."""
        attributes = state_dict["_scale_fn_custom"]
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)
        super().load_state_dict({**state_dict, "_scale_fn_custom": self._scale_fn_custom})


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down along a cosine, again and again, each time T_mult times as long."""

    def __init__(self, optimizer: _Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
                 last_epoch: int = -1) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type "
                             f"{type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
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
        self._set(self._now())

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

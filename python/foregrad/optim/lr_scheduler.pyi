"""Schedules of the learning rate. They work on optimisers, and on steps of compile_step()."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsFloat

from foregrad.compiler import CompiledStep
from foregrad.optim.optimizer import Optimizer

_Optimizer = Optimizer | CompiledStep
_Factor = Callable[[int], float]

class LRScheduler:
    """The base of all schedules: step() sets the rate of every group of parameters."""

    optimizer: _Optimizer
    base_lrs: list[float]
    last_epoch: int
    def __init__(self, optimizer: _Optimizer, last_epoch: int = -1) -> None: ...
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state_dict: dict[str, Any]) -> None: ...
    def get_last_lr(self) -> list[float]: ...
    def get_lr(self) -> list[float]: ...
    def step(self, epoch: Any = None) -> None: ...

class LambdaLR(LRScheduler):
    """The first rate times a function of the epoch."""

    def __init__(
        self, optimizer: _Optimizer, lr_lambda: _Factor | Sequence[_Factor], last_epoch: int = -1
    ) -> None: ...

class MultiplicativeLR(LRScheduler):
    """The last rate times a function of the epoch."""

    def __init__(
        self, optimizer: _Optimizer, lr_lambda: _Factor | Sequence[_Factor], last_epoch: int = -1
    ) -> None: ...

class StepLR(LRScheduler):
    """Times gamma every step_size epochs."""

    def __init__(
        self, optimizer: _Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None: ...

class MultiStepLR(LRScheduler):
    """Times gamma at every milestone."""

    def __init__(
        self,
        optimizer: _Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None: ...

class ConstantLR(LRScheduler):
    """Times a factor for the first epochs."""

    def __init__(
        self,
        optimizer: _Optimizer,
        factor: float = ...,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None: ...

class LinearLR(LRScheduler):
    """In a straight line from one factor to another."""

    def __init__(
        self,
        optimizer: _Optimizer,
        start_factor: float = ...,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None: ...

class ExponentialLR(LRScheduler):
    """Times gamma every epoch."""

    def __init__(self, optimizer: _Optimizer, gamma: float, last_epoch: int = -1) -> None: ...

class CosineAnnealingLR(LRScheduler):
    """Down along a cosine until T_max, and up again."""

    def __init__(
        self, optimizer: _Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None: ...

class CosineAnnealingWarmRestarts(LRScheduler):
    """Down along a cosine, again and again, each time T_mult times as long."""

    def __init__(
        self,
        optimizer: _Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None: ...

class SequentialLR(LRScheduler):
    """One schedule after the other; milestones say when the next one begins."""

    def __init__(
        self,
        optimizer: _Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None: ...
    def step(self) -> None: ...  # type: ignore[override]

class OneCycleLR(LRScheduler):
    """Up to max_lr and down again, far below where it began."""

    def __init__(
        self,
        optimizer: _Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None: ...

class ReduceLROnPlateau(LRScheduler):
    """Times a factor when a number has not become better for a while."""

    def __init__(
        self,
        optimizer: _Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0,
        eps: float = 1e-8,
    ) -> None: ...
    @property
    def in_cooldown(self) -> bool: ...
    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None: ...  # type: ignore[override]

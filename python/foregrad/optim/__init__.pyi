"""Optimisers and schedules of their learning rate."""

from foregrad.optim import lr_scheduler as lr_scheduler
from foregrad.optim.optimizer import Optimizer as Optimizer
from foregrad.optim.optimizer import _Params

class SGD(Optimizer):
    """Stochastic gradient descent, with momentum if wanted."""

    def __init__(
        self,
        params: _Params,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None: ...

class Adam(Optimizer):
    """Adam: steps scaled by running means of gradients and of their squares."""

    def __init__(
        self,
        params: _Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None: ...

class AdamW(Adam):
    """Adam whose weight decay does not go through the means."""

    def __init__(
        self,
        params: _Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None: ...

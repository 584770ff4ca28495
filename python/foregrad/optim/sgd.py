"""Stochastic gradient descent."""

from foregrad import _C
from foregrad.optim.optimizer import NativeOptimizer, refuse_modes

__all__ = ["SGD"]


class SGD(NativeOptimizer):
    """Stochastic gradient descent, with momentum if wanted."""

    _settings = "SGD", ("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize")

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *,
                 maximize=False, foreach=None, differentiable=False, fused=None):
        refuse_modes("SGD", differentiable=differentiable)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach,
            "differentiable": differentiable, "fused": fused})

    def _update(self, group, params):
        # Without momentum nothing is kept.
        states = [self.state[p] for p in params] if group["momentum"] else [{}] * len(params)
        _C.optimizer_update(self._native(group), params, states)

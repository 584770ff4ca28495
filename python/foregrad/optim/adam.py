"""Adam and AdamW."""

from foregrad._settings import native_settings
from foregrad.optim.optimizer import NativeOptimizer, refuse_modes

__all__ = ["Adam", "AdamW"]

_NAMES = ("lr", "betas", "eps", "weight_decay", "amsgrad", "maximize")


class Adam(NativeOptimizer):
    """Adam: steps scaled by running means of gradients and of their squares."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0,
                 amsgrad=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False, fused=None, decoupled_weight_decay=False):
        refuse_modes(type(self).__name__, differentiable=differentiable, capturable=capturable)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay})

    def _native(self, group):
        kind = "AdamW" if group["decoupled_weight_decay"] else "Adam"
        return native_settings(kind, {name: group[name] for name in _NAMES})


class AdamW(Adam):
    """Adam whose weight decay does not go through the means."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2,
                 amsgrad=False, *, maximize=False, foreach=None, capturable=False,
                 differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach,
                         maximize=maximize, capturable=capturable, differentiable=differentiable,
                         fused=fused, decoupled_weight_decay=True)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True

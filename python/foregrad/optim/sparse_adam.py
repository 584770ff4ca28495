"""SparseAdam, which needs sparse gradients: there are none here, and step() says so."""

from __future__ import annotations

from foregrad import _C
from foregrad.autograd._modes import enable_grad
from foregrad.optim.optimizer import Optimizer

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from foregrad import Tensor
    from foregrad.optim.optimizer import _Params
    from typing import Any

__all__ = ["SparseAdam"]

Tensor = _C.Tensor


class SparseAdam(Optimizer):
    """Adam for sparse gradients. Gradients are dense here; step() refuses them, as PyTorch's."""

    def __init__(self, params: _Params, lr: float | Tensor = 1e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 maximize: bool = False) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("learning rate", lr), ("epsilon value", eps)):
            if not 0.0 < value:
                raise ValueError(f"SparseAdam: Invalid {name}: {value}; expected a number above 0")
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"SparseAdam: Invalid beta parameter at index {i}: {beta}; "
                                 "expected a number that is at least 0 and less than 1")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Refuses gradients that are there; closure() computes the loss anew."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if any(p.grad is not None for group in self.param_groups for p in group["params"]):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam "
                               "instead")
        return loss

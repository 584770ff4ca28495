"""The bases of all losses."""

from __future__ import annotations

from foregrad.nn import functional as F
from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor

__all__ = ["_Loss", "_WeightedLoss"]


class _Loss(Module):
    reduction: str

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = F._reduction(reduction, size_average, reduce)


class _WeightedLoss(_Loss):
    reduction: str

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)

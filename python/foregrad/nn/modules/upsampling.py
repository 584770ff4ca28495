"""Upsample and its older forms for images."""

from __future__ import annotations

from foregrad.nn import functional as F
from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor

    _Size = int | tuple[int, ...] | None
    _Factor = float | tuple[float, ...] | None

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """Enlarges (N, C, ...) to a size, or by a factor."""

    name: str
    size: _Size
    scale_factor: _Factor
    mode: str
    align_corners: bool | None
    recompute_scale_factor: bool | None

    def __init__(self, size: _Size = None, scale_factor: _Factor = None, mode: str = "nearest",
                 align_corners: bool | None = None,
                 recompute_scale_factor: bool | None = None) -> None:
        super().__init__()
        self.name, self.size = type(self).__name__, size
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners = mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             recompute_scale_factor=self.recompute_scale_factor)

    def extra_repr(self):
        wanted = (f"scale_factor={self.scale_factor!r}" if self.scale_factor is not None
                  else f"size={self.size!r}")
        return f"{wanted}, mode={self.mode!r}"

    def __setstate__(self, state):
        if "recompute_scale_factor" not in state:  # objects of older versions
            state["recompute_scale_factor"] = True
        self.__dict__.update(state)


class UpsamplingNearest2d(Upsample):
    """Enlarges images by repeating pixels; Upsample is the newer form."""

    def __init__(self, size: _Size = None, scale_factor: _Factor = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Enlarges images linearly, corners on corners; Upsample is the newer form."""

    def __init__(self, size: _Size = None, scale_factor: _Factor = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)

"""InstanceNorm1d, InstanceNorm2d and InstanceNorm3d."""

from __future__ import annotations

from foregrad.nn import functional as F
from foregrad.nn.modules.batchnorm import _BatchNorm

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from foregrad.nn.parameter import Parameter

    _Device = str | _device | None

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _InstanceNorm(_BatchNorm):
    """Normalises each channel of each sample; a sample may stand alone."""

    weight: Parameter | None
    bias: Parameter | None

    _version = 1

    def __init__(self, num_features: int, eps: float = 1e-05, momentum: float = 0.1,
                 affine: bool = False, track_running_stats: bool = False, device: _Device = None,
                 dtype: _dtype | None = None, *, bias: bool = True) -> None:
        if track_running_stats:
            raise NotImplementedError(f"{type(self).__name__}: track_running_stats is not here yet")
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        alone = input.dim() == self._ranks[0]
        whole = input.unsqueeze(0) if alone else input
        made = F.instance_norm(whole, weight=self.weight, bias=self.bias, eps=self.eps)
        return made.squeeze(0) if alone else made


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (N, C, L)."""

    _ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (N, C, H, W)."""

    _ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (N, C, D, H, W)."""

    _ranks = (4, 5)

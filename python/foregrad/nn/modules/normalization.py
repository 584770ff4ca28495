"""LayerNorm, RMSNorm, GroupNorm, and normalisation over neighbouring channels."""

from __future__ import annotations

from foregrad.nn import functional as F
from foregrad.nn import init
from foregrad.nn.modules.linear import made_parameter
from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from foregrad.nn.parameter import Parameter

    _Device = str | _device | None
    _Sizes = int | Sequence[int]

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


def _as_shape(sizes):
    return (sizes,) if isinstance(sizes, int) else tuple(sizes)


class LayerNorm(Module):
    """Normalises over the last dimensions, then scales and shifts."""

    normalized_shape: _Sizes
    eps: float
    elementwise_affine: bool
    weight: Parameter
    bias: Parameter | None

    def __init__(self, normalized_shape: _Sizes, eps: float = 1e-05,
                 elementwise_affine: bool = True, bias: bool = True, device: _Device = None,
                 dtype: _dtype | None = None) -> None:
        super().__init__()
        self.normalized_shape, self.eps = _as_shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in (("weight", True), ("bias", bias)):
            made = made_parameter(self.normalized_shape, device, dtype) if (
                elementwise_affine and wanted) else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Scales by one, shifts by zero."""
        _reset(self)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (f"{self.normalized_shape}, eps={self.eps}, "
                f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}")


class RMSNorm(Module):
    """Divides by the root of the mean square over the last dimensions, then scales."""

    normalized_shape: _Sizes
    eps: float | None
    elementwise_affine: bool
    weight: Parameter

    def __init__(self, normalized_shape: _Sizes, eps: float | None = None,
                 elementwise_affine: bool = True, device: _Device = None,
                 dtype: _dtype | None = None) -> None:
        super().__init__()
        self.normalized_shape, self.eps = _as_shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter("weight", made_parameter(self.normalized_shape, device, dtype)
                                if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Scales by one."""
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return (f"{self.normalized_shape}, eps={self.eps}, "
                f"elementwise_affine={self.elementwise_affine}")


class GroupNorm(Module):
    """Normalises groups of channels, then scales and shifts each channel."""

    num_groups: int
    num_channels: int
    eps: float
    affine: bool
    weight: Parameter
    bias: Parameter | None

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-05, affine: bool = True,
                 device: _Device = None, dtype: _dtype | None = None, *, bias: bool = True) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups "
                             f"({num_groups})")
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        for name, wanted in (("weight", True), ("bias", bias)):
            made = made_parameter((num_channels,), device, dtype) if affine and wanted else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Scales by one, shifts by zero."""
        _reset(self)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
                f"bias={self.bias is not None}")


def _reset(module):
    if module.weight is not None:
        init.ones_(module.weight)
    if module.bias is not None:
        init.zeros_(module.bias)


class LocalResponseNorm(Module):
    """Divides each channel by a power of the mean square of its neighbours."""

    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 0.0001, beta: float = 0.75,
                 k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """The older form of LocalResponseNorm, for images: as many neighbours on both sides."""

    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach, squares = (self.size - 1) // 2, input * input
        padded = F.pad(squares, (0, 0, 0, 0, reach, reach))
        around = padded.unfold(1, 2 * reach + 1, 1).sum(-1)
        # The running sum of PyTorch never lets go of the first channel, so neither does this one.
        if input.size(1) > reach + 1:
            further = F.pad(squares[:, :1].expand(-1, input.size(1) - reach - 1, -1, -1),
                            (0, 0, 0, 0, reach + 1, 0))
            around = around + further
        return input * (self.k + self.alpha / self.size * around) ** -self.beta

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"

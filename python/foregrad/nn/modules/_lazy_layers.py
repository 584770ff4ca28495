"""Layers that take the number of their inputs, or channels, from their first input."""

from __future__ import annotations

from foregrad.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from foregrad.nn.modules.instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from foregrad.nn.modules.lazy import LazyModuleMixin
from foregrad.nn.modules.linear import Linear
from foregrad.nn.parameter import UninitializedBuffer, UninitializedParameter

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from typing import Any

    _Device = str | _device | None

__all__ = ["LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyInstanceNorm1d",
           "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear"]


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that takes in_features from its first input."""

    cls_to_become: Any = Linear

    def __init__(self, out_features: int, bias: bool = True, device: _Device = None,
                 dtype: _dtype | None = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draws weight and bias anew, if they have sizes."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Gives weight and bias their sizes and draws them."""
        if not self.has_uninitialized_params():
            if self.in_features == 0:  # the sizes came with a loaded state
                self._check_features(input)
            return
        self.in_features = input.shape[-1]
        self.weight.materialize((self.out_features, self.in_features))
        if self.bias is not None:
            self.bias.materialize((self.out_features,))
        self.reset_parameters()

    def _check_features(self, input):
        if input.shape[-1] != self.weight.shape[-1]:
            raise AssertionError(f"The in_features inferred from input: {input.shape[-1]} is not "
                                 f"equal to in_features from self.weight: {self.weight.shape[-1]}")
        self.in_features = input.shape[-1]


class _LazyNormBase(LazyModuleMixin):
    def __init__(self, eps: float = 1e-05, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: _Device = None,
                 dtype: _dtype | None = None, *, bias: bool = True) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=bias)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            from foregrad import int64, tensor
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = tensor(0, dtype=int64)

    def reset_parameters(self) -> None:
        """Scales by one, shifts by zero, forgets the statistics, if they have sizes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Gives scale, shift and statistics their sizes and first values."""
        if not self.has_uninitialized_params():
            if self.affine or self.track_running_stats:  # the sizes came with a loaded state
                self.num_features = input.shape[1]
            return
        self.num_features = input.shape[1]
        for tensor in (self.weight, self.bias) if self.affine else ():
            if tensor is not None:
                tensor.materialize((self.num_features,))
        if self.track_running_stats:
            self.running_mean.materialize((self.num_features,))
            self.running_var.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):
    """A BatchNorm1d that takes num_features from its first input."""

    cls_to_become: Any = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):
    """A BatchNorm2d that takes num_features from its first input."""

    cls_to_become: Any = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):
    """A BatchNorm3d that takes num_features from its first input."""

    cls_to_become: Any = BatchNorm3d


class LazyInstanceNorm1d(_LazyNormBase, InstanceNorm1d):
    """An InstanceNorm1d that takes num_features from its first input."""

    cls_to_become: Any = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNormBase, InstanceNorm2d):
    """An InstanceNorm2d that takes num_features from its first input."""

    cls_to_become: Any = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNormBase, InstanceNorm3d):
    """An InstanceNorm3d that takes num_features from its first input."""

    cls_to_become: Any = InstanceNorm3d

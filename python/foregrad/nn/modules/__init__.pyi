"""The modules of foregrad.nn, one family per file."""

from collections.abc import Sequence
from typing import Any

from typing_extensions import Self

from foregrad import Tensor
from foregrad import device as _device
from foregrad import dtype as _dtype
from foregrad.nn.modules.container import ModuleDict as ModuleDict
from foregrad.nn.modules.container import ModuleList as ModuleList
from foregrad.nn.modules.container import Sequential as Sequential
from foregrad.nn.modules.module import Module as Module
from foregrad.nn.modules.parameters import ParameterDict as ParameterDict
from foregrad.nn.modules.parameters import ParameterList as ParameterList
from foregrad.nn.parameter import Parameter

_Device = str | _device | None
_Sizes = int | Sequence[int]

# ---- activation

class ELU(Module):
    """x where positive, alpha * (exp(x) - 1) elsewhere."""

    alpha: float
    inplace: bool
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class GELU(Module):
    """x times the normal distribution function of x."""

    approximate: str
    def __init__(self, approximate: str = 'none') -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Hardtanh(Module):
    """x limited to [min_val, max_val]."""

    min_val: float
    max_val: float
    inplace: bool
    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class LeakyReLU(Module):
    """x where positive, negative_slope * x elsewhere."""

    negative_slope: float
    inplace: bool
    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class LogSigmoid(Module):
    """log(sigmoid(x))."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class LogSoftmax(Module):
    """log(softmax(x)) along a dimension."""

    dim: int | None
    def __init__(self, dim: int | None = None) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Mish(Module):
    """x * tanh(softplus(x))."""

    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class ReLU(Module):
    """max(x, 0)."""

    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class ReLU6(Module):
    """x limited to [0, 6]."""

    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class SELU(Module):
    """The scaled exponential linear unit."""

    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class SiLU(Module):
    """x * sigmoid(x)."""

    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Softmax(Module):
    """exp(x) / sum(exp(x)) along a dimension."""

    dim: int | None
    def __init__(self, dim: int | None = None) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Softmin(Module):
    """softmax(-x) along a dimension."""

    dim: int | None
    def __init__(self, dim: int | None = None) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Softplus(Module):
    """log(1 + exp(beta x)) / beta, and x where beta x is above the threshold."""

    beta: float
    threshold: float
    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Tanh(Module):
    """The hyperbolic tangent."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Threshold(Module):
    """x where above the threshold, value elsewhere."""

    threshold: float
    value: float
    inplace: bool
    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

# ---- batchnorm

class BatchNorm1d(Module):
    """Batch normalisation of (N, C) or (N, C, L)."""

    num_features: int
    eps: float
    momentum: float
    affine: bool
    track_running_stats: bool
    weight: Parameter
    bias: Parameter
    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor
    def reset_running_stats(self) -> None: ...
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-05,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: _Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class BatchNorm2d(Module):
    """Batch normalisation of (N, C, H, W)."""

    num_features: int
    eps: float
    momentum: float
    affine: bool
    track_running_stats: bool
    weight: Parameter
    bias: Parameter
    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor
    def reset_running_stats(self) -> None: ...
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-05,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: _Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class BatchNorm3d(Module):
    """Batch normalisation of (N, C, D, H, W)."""

    num_features: int
    eps: float
    momentum: float
    affine: bool
    track_running_stats: bool
    weight: Parameter
    bias: Parameter
    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor
    def reset_running_stats(self) -> None: ...
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-05,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: _Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

# ---- conv

class Conv1d(Module):
    """A convolution of (N, C, L)."""

    in_channels: int
    out_channels: int
    kernel_size: _Sizes
    stride: _Sizes
    padding: _Sizes | str
    dilation: _Sizes
    groups: int
    padding_mode: str
    transposed: bool
    weight: Parameter
    bias: Parameter | None
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes | str = 0,
        dilation: _Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = 'zeros',
        device: _Device = None,
        dtype: _dtype | None = None,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Conv2d(Module):
    """A convolution of (N, C, H, W)."""

    in_channels: int
    out_channels: int
    kernel_size: _Sizes
    stride: _Sizes
    padding: _Sizes | str
    dilation: _Sizes
    groups: int
    padding_mode: str
    transposed: bool
    weight: Parameter
    bias: Parameter | None
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes | str = 0,
        dilation: _Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = 'zeros',
        device: _Device = None,
        dtype: _dtype | None = None,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Conv3d(Module):
    """A convolution of (N, C, D, H, W)."""

    in_channels: int
    out_channels: int
    kernel_size: _Sizes
    stride: _Sizes
    padding: _Sizes | str
    dilation: _Sizes
    groups: int
    padding_mode: str
    transposed: bool
    weight: Parameter
    bias: Parameter | None
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes | str = 0,
        dilation: _Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = 'zeros',
        device: _Device = None,
        dtype: _dtype | None = None,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class ConvTranspose1d(Module):
    """The gradient of Conv1d with respect to its input, as a module."""

    in_channels: int
    out_channels: int
    kernel_size: _Sizes
    stride: _Sizes
    padding: _Sizes
    output_padding: _Sizes
    groups: int
    dilation: _Sizes
    padding_mode: str
    transposed: bool
    weight: Parameter
    bias: Parameter | None
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes = 0,
        output_padding: _Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _Sizes = 1,
        padding_mode: str = 'zeros',
        device: _Device = None,
        dtype: _dtype | None = None,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class ConvTranspose2d(Module):
    """The gradient of Conv2d with respect to its input, as a module."""

    in_channels: int
    out_channels: int
    kernel_size: _Sizes
    stride: _Sizes
    padding: _Sizes
    output_padding: _Sizes
    groups: int
    dilation: _Sizes
    padding_mode: str
    transposed: bool
    weight: Parameter
    bias: Parameter | None
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes = 0,
        output_padding: _Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _Sizes = 1,
        padding_mode: str = 'zeros',
        device: _Device = None,
        dtype: _dtype | None = None,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class ConvTranspose3d(Module):
    """The gradient of Conv3d with respect to its input, as a module."""

    in_channels: int
    out_channels: int
    kernel_size: _Sizes
    stride: _Sizes
    padding: _Sizes
    output_padding: _Sizes
    groups: int
    dilation: _Sizes
    padding_mode: str
    transposed: bool
    weight: Parameter
    bias: Parameter | None
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes = 0,
        output_padding: _Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _Sizes = 1,
        padding_mode: str = 'zeros',
        device: _Device = None,
        dtype: _dtype | None = None,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

# ---- dropout

class Dropout(Module):
    """Zeroes elements at random in training and scales the others."""

    p: float
    inplace: bool
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Dropout1d(Module):
    """Zeroes whole channels of (N, C, L) at random in training and scales the others."""

    p: float
    inplace: bool
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Dropout2d(Module):
    """Zeroes whole channels of (N, C, H, W) at random in training and scales the others."""

    p: float
    inplace: bool
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Dropout3d(Module):
    """Zeroes whole channels of (N, C, D, H, W) at random in training and scales the others."""

    p: float
    inplace: bool
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

# ---- flatten

class Flatten(Module):
    """Makes one dimension of several; all but the first by default."""

    start_dim: int
    end_dim: int
    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Unflatten(Module):
    """Makes several dimensions of one."""

    dim: int
    unflattened_size: Sequence[int]
    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

# ---- linear

class Identity(Module):
    """Returns its input; takes any arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class Linear(Module):
    """x @ weight.T + bias."""

    in_features: int
    out_features: int
    weight: Parameter
    bias: Parameter | None
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: _Device = None,
        dtype: _dtype | None = None,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

# ---- loss

class BCELoss(Module):
    """The loss of probabilities against targets between 0 and 1."""

    reduction: str
    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = 'mean',
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class BCEWithLogitsLoss(Module):
    """BCELoss of sigmoid(input)."""

    reduction: str
    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = 'mean',
        pos_weight: Tensor | None = None,
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class CrossEntropyLoss(Module):
    """log_softmax over the classes, then NLLLoss."""

    ignore_index: int
    reduction: str
    label_smoothing: float
    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = 'mean',
        label_smoothing: float = 0.0,
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class HuberLoss(Module):
    """Squares below delta, absolute differences above, scaled by delta."""

    reduction: str
    delta: float
    def __init__(self, reduction: str = 'mean', delta: float = 1.0) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class KLDivLoss(Module):
    """The divergence of a distribution from log probabilities."""

    reduction: str
    log_target: bool
    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = 'mean',
        log_target: bool = False,
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class L1Loss(Module):
    """The mean of absolute differences."""

    reduction: str
    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = 'mean',
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class MSELoss(Module):
    """The mean of squared differences."""

    reduction: str
    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = 'mean',
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class NLLLoss(Module):
    """The negative log likelihood of the targets."""

    ignore_index: int
    reduction: str
    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = 'mean',
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class SmoothL1Loss(Module):
    """Squares below beta, absolute differences above."""

    reduction: str
    beta: float
    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = 'mean',
        beta: float = 1.0,
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

# ---- normalization

class GroupNorm(Module):
    """Normalises groups of channels, then scales and shifts each channel."""

    num_groups: int
    num_channels: int
    eps: float
    affine: bool
    weight: Parameter
    bias: Parameter | None
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-05,
        affine: bool = True,
        device: _Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class LayerNorm(Module):
    """Normalises over the last dimensions, then scales and shifts."""

    normalized_shape: _Sizes
    eps: float
    elementwise_affine: bool
    weight: Parameter
    bias: Parameter | None
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        normalized_shape: _Sizes,
        eps: float = 1e-05,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: _Device = None,
        dtype: _dtype | None = None,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class RMSNorm(Module):
    """Divides by the root of the mean square over the last dimensions, then scales."""

    normalized_shape: _Sizes
    eps: float | None
    elementwise_affine: bool
    weight: Parameter
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        normalized_shape: _Sizes,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: _Device = None,
        dtype: _dtype | None = None,
    ) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
    def __call__(self, x: Tensor) -> Tensor: ...

# ---- pooling

class AdaptiveAvgPool1d(Module):
    """The mean of windows that give the wanted size."""

    output_size: int | None | tuple[int | None, ...]
    def __init__(self, output_size: int | None | tuple[int | None, ...]) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class AdaptiveAvgPool2d(Module):
    """The mean of windows that give the wanted sizes; a size may be None: as it is."""

    output_size: int | None | tuple[int | None, ...]
    def __init__(self, output_size: int | None | tuple[int | None, ...]) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class AdaptiveMaxPool1d(Module):
    """The largest element of windows that give the wanted size."""

    output_size: int | None | tuple[int | None, ...]
    return_indices: bool
    def __init__(
        self,
        output_size: int | None | tuple[int | None, ...],
        return_indices: bool = False,
    ) -> None: ...
    def forward(self, input: Tensor) -> Any: ...
    def __call__(self, input: Tensor) -> Any: ...

class AdaptiveMaxPool2d(Module):
    """The largest element of windows that give the wanted sizes; a size may be None: as it is."""

    output_size: int | None | tuple[int | None, ...]
    return_indices: bool
    def __init__(
        self,
        output_size: int | None | tuple[int | None, ...],
        return_indices: bool = False,
    ) -> None: ...
    def forward(self, input: Tensor) -> Any: ...
    def __call__(self, input: Tensor) -> Any: ...

class AvgPool1d(Module):
    """The mean of each window of (N, C, L)."""

    kernel_size: _Sizes
    stride: _Sizes
    padding: _Sizes
    ceil_mode: bool
    count_include_pad: bool
    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class AvgPool2d(Module):
    """The mean of each window of (N, C, H, W)."""

    kernel_size: _Sizes
    stride: _Sizes
    padding: _Sizes
    ceil_mode: bool
    count_include_pad: bool
    divisor_override: int | None
    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class MaxPool1d(Module):
    """The largest element of each window of (N, C, L)."""

    kernel_size: _Sizes
    stride: _Sizes
    padding: _Sizes
    dilation: _Sizes
    return_indices: bool
    ceil_mode: bool
    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None: ...
    def forward(self, input: Tensor) -> Any: ...
    def __call__(self, input: Tensor) -> Any: ...

class MaxPool2d(Module):
    """The largest element of each window of (N, C, H, W)."""

    kernel_size: _Sizes
    stride: _Sizes
    padding: _Sizes
    dilation: _Sizes
    return_indices: bool
    ceil_mode: bool
    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None: ...
    def forward(self, input: Tensor) -> Any: ...
    def __call__(self, input: Tensor) -> Any: ...

# ---- sparse

class Embedding(Module):
    """A table of vectors; its input are places in the table."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    sparse: bool
    weight: Parameter
    def reset_parameters(self) -> None: ...
    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: _Device = None,
        dtype: _dtype | None = None,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None,
                        max_norm: float | None = None, norm_type: float = 2.0,
                        scale_grad_by_freq: bool = False, sparse: bool = False) -> Self: ...

# ---- attention

class MultiheadAttention(Module):
    """Attention of several heads; projections before and after."""

    embed_dim: int
    num_heads: int
    head_dim: int
    kdim: int
    vdim: int
    dropout: float
    batch_first: bool
    in_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    out_proj: Linear
    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: _Device = None,
        dtype: _dtype | None = None,
    ) -> None: ...
    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]: ...
    def __call__(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]: ...

# ---- instancenorm

class InstanceNorm1d(Module):
    """Instance normalisation of (N, C, L)."""

    num_features: int
    eps: float
    momentum: float
    affine: bool
    track_running_stats: bool
    weight: Parameter | None
    bias: Parameter | None
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-05,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: _Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None: ...
    def reset_parameters(self) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class InstanceNorm2d(Module):
    """Instance normalisation of (N, C, H, W)."""

    num_features: int
    eps: float
    momentum: float
    affine: bool
    track_running_stats: bool
    weight: Parameter | None
    bias: Parameter | None
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-05,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: _Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None: ...
    def reset_parameters(self) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class InstanceNorm3d(Module):
    """Instance normalisation of (N, C, D, H, W)."""

    num_features: int
    eps: float
    momentum: float
    affine: bool
    track_running_stats: bool
    weight: Parameter | None
    bias: Parameter | None
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-05,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: _Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None: ...
    def reset_parameters(self) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
    def __call__(self, input: Tensor) -> Tensor: ...

"""Batch normalisation, also for several processes."""

from __future__ import annotations

from foregrad import _C
from foregrad import _types as types
from foregrad.autograd._modes import no_grad
from foregrad.nn import functional as F
from foregrad.nn import init
from foregrad.nn.modules.linear import made_parameter
from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from foregrad.nn.parameter import Parameter
    from typing import Any

    _Device = str | _device | None

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"]


class _NormBase(Module):
    """Scale, shift and running statistics of channels."""

    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool
    weight: Parameter
    bias: Parameter
    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor

    _version = 2
    _ranks = ()

    def __init__(self, num_features: int, eps: float = 1e-05, momentum: float | None = 0.1,
                 affine: bool = True, track_running_stats: bool = True, device: _Device = None,
                 dtype: _dtype | None = None, *, bias: bool = True) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, wanted in (("weight", True), ("bias", bias)):
            made = made_parameter((num_features,), device, dtype) if affine and wanted else None
            self.register_parameter(name, made)
        make = _C._functions.zeros
        tracked = {"running_mean": make((num_features,), dtype=dtype, device=device),
                   "running_var": make((num_features,), dtype=dtype, device=device),
                   "num_batches_tracked": make((), dtype=types.int64, device=device)}
        for name, buffer in tracked.items():
            self.register_buffer(name, buffer if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Statistics of mean zero and variance one."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Scales by one, shifts by zero, forgets the statistics."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input):
        if input.dim() not in self._ranks:
            expected = " or ".join(f"{rank}D" for rank in self._ranks)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def extra_repr(self):
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
                f"affine={self.affine}, bias={self.bias is not None}, "
                f"track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys,
                              unexpected_keys, error_msgs):
        # Files from before the count was kept.
        key = prefix + "num_batches_tracked"
        version = local_metadata.get("version", None)
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            state_dict[key] = self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys,
                                      unexpected_keys, error_msgs)


class _BatchNorm(_NormBase):
    """Normalises channels over the batch in training, with running statistics otherwise."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        counted = self.training and self.track_running_stats
        if counted and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
        if counted and self.momentum is None and self.running_mean is not None:
            return self._averaged(input)
        of_batch = self.training or (self.running_mean is None and self.running_var is None)
        tracked = not self.training or self.track_running_stats
        return F.batch_norm(input, self.running_mean if tracked else None,
                            self.running_var if tracked else None, self.weight, self.bias,
                            of_batch, 0.0 if self.momentum is None else self.momentum, self.eps)

    def _averaged(self, input):
        """Training without a momentum: all batches count alike in the statistics."""
        mean, var = self.running_mean.clone(), self.running_var.clone()
        out = F.batch_norm(input, mean, var, self.weight, self.bias, True, 1.0, self.eps)
        with no_grad():
            part = 1.0 / self.num_batches_tracked.to(mean.dtype)
            for kept, of_batch in ((self.running_mean, mean), (self.running_var, var)):
                kept.copy_(kept * (1 - part) + of_batch * part)
        return out


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W)."""

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W)."""

    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes; here there is one process."""

    process_group: Any

    def __init__(self, num_features: int, eps: float = 1e-05, momentum: float | None = 0.1,
                 affine: bool = True, track_running_stats: bool = True, process_group: Any = None,
                 device: _Device = None, dtype: _dtype | None = None, *,
                 bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias=bias)
        if process_group is not None:
            raise NotImplementedError(
                f"SyncBatchNorm: process_group is a {type(process_group).__name__}; groups of "
                "processes are not here, expected None: the one process of the program")
        self.process_group = None

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module with a SyncBatchNorm in the place of every BatchNorm; values are shared."""
        made = module
        if isinstance(module, _BatchNorm):
            made = SyncBatchNorm(module.num_features, module.eps, module.momentum, module.affine,
                                 module.track_running_stats, process_group)
            made._parameters.update(module._parameters)
            made._buffers.update(module._buffers)
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made

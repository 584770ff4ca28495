"""InstanceNorm1d, InstanceNorm2d and InstanceNorm3d."""

from __future__ import annotations

import warnings

from foregrad.nn import functional as F
from foregrad.nn.modules.batchnorm import _NormBase

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from foregrad.nn.parameter import Parameter

    _Device = str | _device | None

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _InstanceNorm(_NormBase):
    """Normalises each channel of each sample; a sample may stand alone."""

    weight: Parameter | None
    bias: Parameter | None

    def __init__(self, num_features: int, eps: float = 1e-05, momentum: float = 0.1,
                 affine: bool = False, track_running_stats: bool = False, device: _Device = None,
                 dtype: _dtype | None = None, *, bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        alone = input.dim() == self._ranks[0]
        self._check_channels(input, 0 if alone else 1)
        made = F.instance_norm(input.unsqueeze(0) if alone else input, self.running_mean,
                               self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats,
                               0.0 if self.momentum is None else self.momentum, self.eps)
        return made.squeeze(0) if alone else made

    def _check_channels(self, input, dim):
        if input.size(dim) == self.num_features:
            return
        if self.affine:
            raise ValueError(f"expected input's size at dim={dim} to match num_features "
                             f"({self.num_features}), but got: {input.size(dim)}.")
        warnings.warn(f"input's size at dim={dim} does not match num_features. You can silence "
                      "this warning by not passing in num_features, which is not used because "
                      "affine=False", stacklevel=3)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys,
                              unexpected_keys, error_msgs):
        # Files from before the statistics were optional.
        if local_metadata.get("version", None) is None and not self.track_running_stats:
            found = [name for name in ("running_mean", "running_var")
                     if prefix + name in state_dict]
            if found:
                names = " and ".join(f'"{prefix}{name}"' for name in found)
                name = type(self).__name__
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {names} for {name} with "
                    "track_running_stats=False; delete these keys from state_dict, or set "
                    f"track_running_stats=True in {name}.")
                for key in found:
                    state_dict.pop(prefix + key)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys,
                                      unexpected_keys, error_msgs)


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (N, C, L)."""

    _ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (N, C, H, W)."""

    _ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (N, C, D, H, W)."""

    _ranks = (4, 5)

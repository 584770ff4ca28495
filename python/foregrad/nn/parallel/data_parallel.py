"""DataParallel: without GPUs a module that calls the one it holds."""

from __future__ import annotations

from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn
    from foregrad import device as _device

    _Device = _device | int

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """A module whose batches would be split over GPUs; without them it calls the module itself."""

    def __init__(self, module: Module, device_ids: Sequence[_Device] | None = None,
                 output_device: _Device | None = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.dim = dim
        self.device_ids: list[_Device] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(module: Module, inputs: Any, device_ids: Sequence[_Device] | None = None,
                  output_device: _Device | None = None, dim: int = 0,
                  module_kwargs: Any | None = None) -> NoReturn:
    """Calls a module on several GPUs, of which there are none."""
    raise RuntimeError("data_parallel: there are no GPUs to split the batch over; call the module")

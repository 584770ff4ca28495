"""DataParallel: a batch in parts, one for each GPU; without a GPU the module is called as it is."""

from __future__ import annotations

from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from foregrad import device as _device
    from typing import Any

    _Device = int | _device

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Calls the module that it holds; its names begin with `module.`."""

    module: Module
    device_ids: list[int]

    def __init__(self, module: Module, device_ids: Sequence[_Device] | None = None,
                 output_device: _Device | None = None, dim: int = 0) -> None:
        super().__init__()
        self.module, self.device_ids = module, []  # PyTorch without a GPU forgets them too

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(module: Module, inputs: Any, device_ids: Sequence[_Device] | None = None,
                  output_device: _Device | None = None, dim: int = 0,
                  module_kwargs: dict[str, Any] | None = None) -> Any:
    """Calls a module with the inputs, a tuple or one tensor."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*inputs, **(module_kwargs or {}))

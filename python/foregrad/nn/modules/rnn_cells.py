"""RNNCell, LSTMCell and GRUCell: single steps."""

from __future__ import annotations

import math

from foregrad import _C
from foregrad.nn import init
from foregrad.nn.modules.linear import made_parameter
from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from foregrad.nn.parameter import Parameter

    _Device = str | _device | None

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]

_f = _C._functions


class RNNCellBase(Module):
    """Parameters and checks that all cells have in common."""

    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int,
                 device: _Device = None, dtype: _dtype | None = None) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = made_parameter((rows, input_size), device, dtype)
        self.weight_hh = made_parameter((rows, hidden_size), device, dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, made_parameter((rows,), device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all parameters anew: uniform, within 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _check_rank(self, what, tensor):
        if tensor.dim() not in (1, 2):
            raise ValueError(f"{self._get_name()}: Expected {what} to be 1D or 2D, got "
                             f"{tensor.dim()}D instead")

    def _weights(self):
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _step(self, function, input, hx):
        """The next state of a cell that has one."""
        self._check_rank("input", input)
        if hx is not None:
            self._check_rank("hidden", hx)
        batched = input.dim() == 2
        x = input if batched else input.unsqueeze(0)
        if hx is None:
            hx = _f.zeros((x.shape[0], self.hidden_size), dtype=x.dtype)
        elif not batched:
            hx = hx.unsqueeze(0)
        out = function(x, hx, *self._weights())
        return out if batched else out.squeeze(0)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


class RNNCell(RNNCellBase):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu."""

    nonlinearity: str

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True,
                 nonlinearity: str = "tanh", device: _Device = None,
                 dtype: _dtype | None = None) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(_f.rnn_tanh_cell if self.nonlinearity == "tanh" else _f.rnn_relu_cell,
                          input, hx)


class LSTMCell(RNNCellBase):
    """One step of long short-term memory: the next h and c."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True,
                 device: _Device = None, dtype: _dtype | None = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor,
                hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        self._check_rank("input", input)
        for i, part in enumerate(hx or ()):
            self._check_rank(f"hx[{i}]", part)
        batched = input.dim() == 2
        x = input if batched else input.unsqueeze(0)
        if hx is None:
            zeros = _f.zeros((x.shape[0], self.hidden_size), dtype=x.dtype)
            hx = zeros, zeros
        elif not batched:
            hx = hx[0].unsqueeze(0), hx[1].unsqueeze(0)
        h, c = _f.lstm_cell(x, list(hx), *self._weights())
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    """One step of a gated recurrent unit: the next h."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True,
                 device: _Device = None, dtype: _dtype | None = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(_f.gru_cell, input, hx)

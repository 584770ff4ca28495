"""RNN, LSTM and GRU."""

from __future__ import annotations

import math
import warnings

from foregrad import _C
from foregrad.nn import init
from foregrad.nn.modules.linear import made_parameter
from foregrad.nn.modules.module import Module
from foregrad.nn.modules.rnn_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from foregrad.nn.utils.rnn import PackedSequence

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any

    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from foregrad.nn.parameter import Parameter

    _Device = str | _device | None

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

_f = _C._functions
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def apply_permutation(tensor, permutation, dim=1):
    """The tensor with the indices of one dimension in another order; None: as it is."""
    return tensor if permutation is None else tensor.index_select(dim, permutation)


class RNNBase(Module):
    """Parameters, checks and calls that RNN, LSTM and GRU have in common."""

    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def __init__(self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1,
                 bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
                 bidirectional: bool = False, proj_size: int = 0, device: _Device = None,
                 dtype: _dtype | None = None) -> None:
        super().__init__()
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + str(mode))
        _check_sizes(input_size, hidden_size, num_layers, dropout, proj_size)
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional = float(dropout), bidirectional
        self.proj_size = proj_size
        self._all_weights = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[:1 + bool(bidirectional)]:
                shapes = self._shapes(layer)
                for name, shape in shapes.items():
                    self.register_parameter(f"{name}_l{layer}{suffix}",
                                            made_parameter(shape, device, dtype))
                self._all_weights.append([f"{name}_l{layer}{suffix}" for name in shapes])
        self.reset_parameters()

    def _shapes(self, layer):
        """Names and shapes of the parameters of a layer."""
        rows = _GATES[self.mode] * self.hidden_size
        width = self.proj_size or self.hidden_size
        inputs = self.input_size if layer == 0 else width * (1 + bool(self.bidirectional))
        shapes = {"weight_ih": (rows, inputs), "weight_hh": (rows, width)}
        if self.bias:
            shapes.update(bias_ih=(rows,), bias_hh=(rows,))
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        return shapes

    def reset_parameters(self) -> None:
        """Draws all parameters anew: uniform, within 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Does nothing: parameters need not be neighbours in memory here."""

    @property
    def _flat_weights_names(self):
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self):
        return [getattr(self, name) for names in self._all_weights for name in names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    # ---- checks

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Refuses an input of another dtype, rank or size than the parameters expect."""
        dtype = getattr(self, self._all_weights[0][0]).dtype
        if input.dtype != dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert "
                f"input: input.to({dtype}), or convert model: model.to({input.dtype})")
        rank = 3 if batch_sizes is None else 2
        if input.dim() != rank:
            raise RuntimeError(f"input must have {rank} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError("input.size(-1) must be equal to input_size. Expected "
                               f"{self.input_size}, got {input.size(-1)}")

    def get_expected_hidden_size(self, input: Tensor,
                                 batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The sizes of h for an input."""
        return self._state_size(self._batch_of(input, batch_sizes),
                                self.proj_size or self.hidden_size)

    def _batch_of(self, input, batch_sizes, order=None, state=None):
        """The number of sequences.

        While a function is captured, batch_sizes may have no values yet: then the order of the
        sequences or a state says it, and the kernel compares when it runs.
        """
        if batch_sizes is None:
            return input.size(0) if self.batch_first else input.size(1)
        if _C.is_capturing() and order is not None:
            return order.shape[0]
        if _C.is_capturing() and state is not None:
            return state.size(1)
        return int(batch_sizes[0])

    def _state_size(self, batch, width):
        return self.num_layers * (1 + bool(self.bidirectional)), batch, width

    def check_hidden_size(self, hx: Tensor, expected_hidden_size: tuple[int, int, int],
                          msg: str = "Expected hidden size {}, got {}") -> None:
        """Refuses a state of other sizes."""
        if tuple(hx.size()) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(tuple(expected_hidden_size), list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Tensor,
                           batch_sizes: Tensor | None) -> None:
        """Refuses inputs and states that do not fit the parameters or each other."""
        self.check_input(input, batch_sizes)
        batch = self._batch_of(input, batch_sizes, state=hidden)
        self.check_hidden_size(hidden, self._state_size(batch, self.hidden_size))

    def permute_hidden(self, hx: Tensor, permutation: Tensor | None) -> Tensor:
        """States in the order of the sequences of a packed sequence."""
        return apply_permutation(hx, permutation)

    # ---- calls

    def _check_rank(self, input):
        if input.dim() not in (2, 3):
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got "
                             f"{input.dim()}D instead")

    def _zeros(self, input, batch, width):
        return _f.zeros(self._state_size(batch, width), dtype=input.dtype)

    def _unpacked(self, input, hx):
        """Data, batch sizes, orders and state of a call, all of them batched."""
        if isinstance(input, PackedSequence):
            data, batch_sizes, order, back = input
            return data, batch_sizes, order, back, hx
        self._check_rank(input)
        if input.dim() == 2:
            hx = self._as_batch(hx)
            input = input.unsqueeze(0 if self.batch_first else 1)
        else:
            self._check_batched(hx)
        return input, None, None, None, hx

    def _settings(self, batch_sizes):
        flags = [self.bias, self.num_layers, self.dropout, self.training, self.bidirectional]
        return flags if batch_sizes is not None else [*flags, self.batch_first]

    def _result(self, given, output, batch_sizes, order, back):
        if isinstance(given, PackedSequence):
            return PackedSequence(output, batch_sizes, order, back)
        return output if given.dim() == 3 else output.squeeze(0 if self.batch_first else 1)

    # A state without a batch gets one, and a batched one is checked; an LSTM has two.
    def _as_batch(self, hx):
        if hx is None:
            return None
        if hx.dim() != 2:
            raise RuntimeError("For unbatched 2-D input, hx should also be 2-D but got "
                               f"{hx.dim()}-D tensor")
        return hx.unsqueeze(1)

    def _check_batched(self, hx):
        if hx is not None and hx.dim() != 3:
            raise RuntimeError("For batched 3-D input, hx should also be 3-D but got "
                               f"{hx.dim()}-D tensor")

    def _run(self, function, input, hx):
        data, batch_sizes, order, back, state = self._unpacked(input, hx)
        if state is None:
            self.check_input(data, batch_sizes)
            batch = self._batch_of(data, batch_sizes, order)
            state = self._zeros(data, batch, self.hidden_size)
        else:
            state = self.permute_hidden(state, order)
            self.check_forward_args(data, state, batch_sizes)
        where = [data] if batch_sizes is None else [data, batch_sizes]
        output, hidden = function(*where, state, self._flat_weights, *self._settings(batch_sizes))
        hidden = self.permute_hidden(hidden, back)
        if not isinstance(input, PackedSequence) and input.dim() == 2:
            hidden = hidden.squeeze(1)
        return self._result(input, output, batch_sizes, order, back), hidden

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        for name, default in (("proj_size", 0), ("num_layers", 1), ("bias", True),
                              ("batch_first", False), ("dropout", 0), ("bidirectional", False)):
            if getattr(self, name) != default:
                text += f", {name}={getattr(self, name)}"
        return text


def _check_sizes(input_size, hidden_size, num_layers, dropout, proj_size):
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(value, int):
            raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
    number = isinstance(dropout, (int, float)) and not isinstance(dropout, bool)
    if not number or not 0 <= dropout <= 1:
        raise ValueError("dropout should be a number in range [0, 1] representing the probability "
                         "of an element being zeroed")
    if dropout > 0 and num_layers == 1:
        warnings.warn("dropout option adds dropout after all but last recurrent layer, so non-zero "
                      f"dropout expects num_layers greater than 1, but got dropout={dropout} and "
                      f"num_layers={num_layers}", stacklevel=4)
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size),
                        ("num_layers", num_layers)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


def _without_projection(keywords):
    if "proj_size" in keywords:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """Layers of h = tanh(W_ih x + b_ih + W_hh h + b_hh), or of relu.

    Arguments: input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True,
    batch_first=False, dropout=0.0, bidirectional=False, device=None, dtype=None.
    """

    nonlinearity: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _without_projection(kwargs)
        if len(args) > 3:
            self.nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or "
                             "'relu'.")
        super().__init__(f"RNN_{self.nonlinearity.upper()}", *args, **kwargs)

    def _check_rank(self, input):
        if input.dim() not in (2, 3):
            raise ValueError(f"RNN: Expected input to be 2D or 3D, got {input.dim()}D tensor "
                             "instead")

    def forward(self, input: Tensor | PackedSequence,
                hx: Tensor | None = None) -> tuple[Tensor | PackedSequence, Tensor]:
        return self._run(_f.rnn_tanh if self.mode == "RNN_TANH" else _f.rnn_relu, input, hx)


class GRU(RNNBase):
    """Layers of gated recurrent units.

    Arguments: input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
    bidirectional=False, device=None, dtype=None.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _without_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Tensor | PackedSequence,
                hx: Tensor | None = None) -> tuple[Tensor | PackedSequence, Tensor]:
        return self._run(_f.gru, input, hx)


class LSTM(RNNBase):
    """Layers of long short-term memory; with proj_size, states are projected to that size.

    Arguments: input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
    bidirectional=False, proj_size=0, device=None, dtype=None.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor,
                               batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The sizes of c for an input."""
        return self._state_size(self._batch_of(input, batch_sizes), self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: tuple[Tensor, Tensor],
                           batch_sizes: Tensor | None) -> None:
        self.check_input(input, batch_sizes)
        batch = self._batch_of(input, batch_sizes, state=hidden[0])
        for i, width in enumerate((self.proj_size or self.hidden_size, self.hidden_size)):
            self.check_hidden_size(hidden[i], self._state_size(batch, width),
                                   f"Expected hidden[{i}] size {{}}, got {{}}")

    def permute_hidden(self, hx: tuple[Tensor, Tensor],
                       permutation: Tensor | None) -> tuple[Tensor, Tensor]:
        return tuple(apply_permutation(part, permutation) for part in (hx[0], hx[1]))

    def _as_batch(self, hx):
        if hx is None:
            return None
        if hx[0].dim() != 2 or hx[1].dim() != 2:
            raise RuntimeError("For unbatched 2-D input, hx and cx should also be 2-D but got "
                               f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors")
        return hx[0].unsqueeze(1), hx[1].unsqueeze(1)

    def _check_batched(self, hx):
        if hx is not None and (hx[0].dim() != 3 or hx[1].dim() != 3):
            raise RuntimeError("For batched 3-D input, hx and cx should also be 3-D but got "
                               f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors")

    def forward(self, input: Tensor | PackedSequence, hx: tuple[Tensor, Tensor] | None = None
                ) -> tuple[Tensor | PackedSequence, tuple[Tensor, Tensor]]:
        data, batch_sizes, order, back, state = self._unpacked(input, hx)
        if state is None:
            self.check_input(data, batch_sizes)
            batch = self._batch_of(data, batch_sizes, order)
            state = (self._zeros(data, batch, self.proj_size or self.hidden_size),
                     self._zeros(data, batch, self.hidden_size))
        else:
            state = self.permute_hidden(state, order)
            self.check_forward_args(data, state, batch_sizes)
        where = [data] if batch_sizes is None else [data, batch_sizes]
        output, h, c = _f.lstm(*where, list(state), self._flat_weights,
                               *self._settings(batch_sizes))
        hidden = self.permute_hidden((h, c), back)
        if not isinstance(input, PackedSequence) and input.dim() == 2:
            hidden = hidden[0].squeeze(1), hidden[1].squeeze(1)
        return self._result(input, output, batch_sizes, order, back), hidden

"""torch.nn.utils.rnn: sequences of different lengths, padded or packed."""

from __future__ import annotations

from collections import namedtuple

from foregrad import _C
from foregrad import _types as types

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NamedTuple

    from foregrad import Tensor

    PackedSequence_ = NamedTuple("PackedSequence_", [
        ("data", Tensor), ("batch_sizes", Tensor), ("sorted_indices", Tensor | None),
        ("unsorted_indices", Tensor | None)])

__all__ = ["PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
           "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence"]

_f = _C._functions


PackedSequence_ = namedtuple(  # noqa: F811
    "PackedSequence_", "data batch_sizes sorted_indices unsorted_indices")


class PackedSequence(PackedSequence_):
    """Sequences step by step, the longest first: rows of step 0, rows of step 1, ...

    data: the rows; batch_sizes: how many of them each step has; sorted_indices: the place in the
    batch of each sequence as they are sorted; unsorted_indices: the inverse of that.
    """

    __slots__ = ()

    def __new__(cls, data: Tensor, batch_sizes: Tensor | None = None,
                sorted_indices: Tensor | None = None,
                unsorted_indices: Tensor | None = None) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same with the data converted; itself if nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def pin_memory(self) -> PackedSequence:
        """The same; there is no other memory than the CPU's."""
        return type(self)(self.data.contiguous(), self.batch_sizes, self.sorted_indices,
                          self.unsorted_indices)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Refused: only the CPU exists here."""
        raise RuntimeError("cuda: only the cpu exists here")

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The sequence itself, or converted as the arguments say."""
        return self.to(*args, **kwargs) if args or kwargs else self

    def double(self) -> PackedSequence:
        """The same in float64."""
        return self.to(dtype=types.float64)

    def float(self) -> PackedSequence:
        """The same in float32."""
        return self.to(dtype=types.float32)

    def half(self) -> PackedSequence:
        """The same in float16."""
        return self.to(dtype=types.float16)

    def long(self) -> PackedSequence:
        """The same in int64."""
        return self.to(dtype=types.int64)

    def int(self) -> PackedSequence:
        """The same in int32."""
        return self.to(dtype=types.int32)

    def short(self) -> PackedSequence:
        """The same in int16."""
        return self.to(dtype=types.int16)

    def char(self) -> PackedSequence:
        """The same in int8."""
        return self.to(dtype=types.int8)

    def byte(self) -> PackedSequence:
        """The same in uint8."""
        return self.to(dtype=types.uint8)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is in the memory of a GPU: never."""
        return False

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory: never."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another one."""
    if permutation is None:
        return None
    places = _f.arange(permutation.numel(), dtype=permutation.dtype)
    return _f.empty_like(permutation).scatter_(0, permutation, places)


def _integers(values):
    return _C._tensor_from_data(values, types.int64)


def _checked_lengths(lengths, batch):
    if not isinstance(lengths, _C.Tensor):
        lengths = _integers(lengths)
    lengths = lengths.to(types.int64)
    if lengths.dim() != 1:
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor, but got "
                           f"{lengths.dim()}D cpu Long tensor")
    if lengths.shape[0] != batch:
        raise RuntimeError("Expected `len(lengths)` to be equal to batch_size, but got "
                           f"{lengths.shape[0]} (batch_size={batch})")
    return lengths


def _check_counts(counts, steps):
    if min(counts) <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element "
                           "in 'lengths' that is <= 0")
    if any(a < b for a, b in zip(counts, counts[1:])):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You "
            "can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability.")
    if counts[0] > steps:
        raise RuntimeError(f"pack_padded_sequence: got a length of {counts[0]} and an input of "
                           f"{steps} steps; a length may be at most that")


def _numbers_above(falling):
    """For i = 0, 1, ... below the first number: how many of the falling numbers exceed i."""
    found, count = [], len(falling)
    for i in range(falling[0]):
        while falling[count - 1] <= i:
            count -= 1
        found.append(count)
    return found


def _places(sizes, batch):
    """The rows that a packed sequence has of (steps * batch, ...), from the rows of each step."""
    places = []
    for t, size in enumerate(sizes):
        places.extend(range(t * batch, t * batch + size))
    return _integers(places)


def pack_padded_sequence(input: Tensor, lengths: Tensor | list[int], batch_first: bool = False,
                         enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences that are padded to one length.

    input is (steps, batch, ...), or (batch, steps, ...) with batch_first. With enforce_sorted they
    come sorted by length, the longest first; without, they are sorted here.
    """
    lengths = _checked_lengths(lengths, input.shape[0 if batch_first else 1])
    counts, order = lengths.tolist(), None
    if not enforce_sorted:
        places = sorted(range(len(counts)), key=lambda i: -counts[i])
        counts, order = [counts[i] for i in places], _integers(places)
        input = input.index_select(0 if batch_first else 1, order)
    if batch_first:
        input = input.transpose(0, 1)
    steps, batch = input.shape[:2]
    if not counts:
        raise RuntimeError("Cannot pack empty tensors.")
    _check_counts(counts, steps)
    sizes = _numbers_above(counts)
    rows = input.reshape(steps * batch, *input.shape[2:])
    data = rows.index_select(0, _places(sizes, batch))
    return PackedSequence(data, _integers(sizes), order, None)


def pad_packed_sequence(sequence: PackedSequence, batch_first: bool = False,
                        padding_value: float = 0.0,
                        total_length: int | None = None) -> tuple[Tensor, Tensor]:
    """The padded sequences and their lengths, in the order in which they were packed."""
    sizes = sequence.batch_sizes.tolist()
    steps, batch = len(sizes), sizes[0]
    if total_length is not None:
        if total_length < steps:
            raise ValueError("Expected total_length to be at least the length of the longest "
                             f"sequence in input, but got total_length={total_length} and max "
                             f"sequence length being {steps}")
        steps = total_length
    data = sequence.data
    padding = _f.full((steps * batch, *data.shape[1:]), padding_value, dtype=data.dtype)
    padded = padding.index_copy(0, _places(sizes, batch), data)
    padded = padded.reshape(steps, batch, *data.shape[1:])
    lengths = _integers(_numbers_above(sizes))
    if batch_first:
        padded = padded.transpose(0, 1)
    back = sequence.unsorted_indices
    if back is not None:
        return padded.index_select(0 if batch_first else 1, back), lengths[back]
    return padded, lengths


def pad_sequence(sequences: Iterable[Tensor] | Tensor, batch_first: bool = False,
                 padding_value: float = 0.0, padding_side: str = "right") -> Tensor:
    """Sequences of different lengths as one tensor: (steps, batch, ...), or (batch, steps, ...)."""
    if isinstance(sequences, _C.Tensor):
        sequences = sequences.unbind(0)
    elif not hasattr(sequences, "__iter__"):
        raise RuntimeError("pad_sequence: Expected iterable for input sequences, but got arg of "
                           f"type: {type(sequences)}")
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError("Expected padding_side to be one of left or right, but got "
                           f"{padding_side}.")
    longest = max(each.shape[0] for each in sequences)

    def padded(each):
        missing = longest - each.shape[0]
        if missing == 0:
            return each
        ends = (missing, 0) if padding_side == "left" else (0, missing)
        return _f.pad(each, [0, 0] * (each.dim() - 1) + list(ends), value=padding_value)

    return _f.stack([padded(each) for each in sequences], 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor,
                   batch_first: bool = False) -> list[Tensor]:
    """The sequences without their padding."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [padded[:length] for padded, length in zip(padded_sequences.unbind(0),
                                                      lengths.tolist())]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences of different lengths."""
    lengths = [each.shape[0] for each in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed one."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)

"""AdaptiveLogSoftmaxWithLoss: a softmax over many classes, most of which are rare."""

from __future__ import annotations

from collections import namedtuple

from foregrad.nn import functional as F
from foregrad.nn.modules.container import ModuleList, Sequential
from foregrad.nn.modules.linear import Linear
from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from foregrad import Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from typing import Any

    _Device = str | _device | None

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """The head has the frequent classes and one place for each cluster of rare ones."""

    in_features: int
    n_classes: int
    cutoffs: list[int]
    div_value: float
    head_bias: bool
    head: Linear
    tail: ModuleList

    def __init__(self, in_features: int, n_classes: int, cutoffs: Sequence[int],
                 div_value: float = 4.0, head_bias: bool = False, device: _Device = None,
                 dtype: _dtype | None = None) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1
                or any(int(c) != c for c in cutoffs)):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in "
                             "an increasing order, where each value is between 1 and n_classes-1")
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            inside = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(Sequential(Linear(in_features, inside, False, device, dtype),
                                        Linear(inside, size, False, device, dtype)))

    def reset_parameters(self) -> None:
        """Draws all weights anew."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        """The log probabilities of the targets, and the mean of their negatives."""
        _check(input_, target_)
        alone = target_.dim() == 0
        input, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if alone else (input_, target_)
        head = F.log_softmax(self.head(input), dim=1)
        output = head.new_zeros(target.shape[0])
        places, used = target, 0  # places in the head
        bounds = [0, *self.cutoffs]
        for i, (low, high) in enumerate(zip(bounds, bounds[1:])):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            used += rows.numel()
            if i == 0 or rows.numel() == 0:
                continue
            inside = F.log_softmax(self.tail[i - 1](input.index_select(0, rows)), dim=1)
            chosen = (target.index_select(0, rows) - low).unsqueeze(1)
            output = output.index_copy(0, rows, inside.gather(1, chosen).squeeze(1))
            places = places.index_fill(0, rows, self.cutoffs[0] + i - 1)
        if used != target.shape[0]:
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values "
                               f"in range [{target.min().item()}, {target.max().item()}] were "
                               "found. ")
        output = output + head.gather(1, places.unsqueeze(1)).squeeze(1)
        return _ASMoutput(output.squeeze(0) if alone else output, (-output).mean())

    def _get_full_log_prob(self, input, head_output):
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, :self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            inside = F.log_softmax(cluster(input), dim=1)
            parts.append(inside + head[:, self.shortlist_size + i].unsqueeze(1))
        return _joined(parts)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log probabilities of all classes."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The class of the highest probability; clusters are looked at where they may have it."""
        head = self.head(input)
        output = head.argmax(dim=1)
        rare = output >= self.shortlist_size
        if not rare.any():
            return output
        rows = rare.nonzero().squeeze(1)
        best = self._get_full_log_prob(input[rows], head[rows]).argmax(dim=1)
        return output.index_copy(0, rows, best)


def _joined(parts):
    from foregrad import cat
    return cat(parts, dim=1)


def _check(input, target):
    if target.dim() == 1:
        if input.shape[0] != target.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input.dim() != 2:
            raise RuntimeError("1D target tensor expects 2D input tensors, but found inputs with "
                               f"size {input.size()}")
    elif target.dim() == 0:
        if input.dim() != 1:
            raise RuntimeError("0D target tensor expects 1D input tensors, but found inputs with "
                               f"size {input.size()}")
    else:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")

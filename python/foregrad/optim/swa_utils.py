"""Averages of weights: AveragedModel, the functions that average, SWALR and update_bn."""

from __future__ import annotations

import copy
import itertools
import math

import foregrad
from foregrad import _C
from foregrad.autograd._modes import no_grad
from foregrad.nn.modules.module import Module
from foregrad.optim.lr_scheduler import LRScheduler, _per_group

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from foregrad import Tensor
    from foregrad.compiler import CompiledStep
    from foregrad.optim.optimizer import Optimizer
    from typing import Any

    _Optimizer = Optimizer | CompiledStep
    _Average = Callable[[Tensor, Tensor, Tensor | int], Tensor]
    _Averages = Callable[[Sequence[Tensor], Sequence[Tensor], Tensor | int], None]

__all__ = ["AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
           "get_swa_multi_avg_fn", "update_bn"]

Tensor = _C.Tensor


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] "
                         "range.")


def get_ema_multi_avg_fn(decay: float = 0.999) -> _Averages:
    """The function that moves averages by 1 - decay to the current values, in place."""
    _check_decay(decay)

    @no_grad()
    def ema_update(averages, current, _):
        for average, value in zip(averages, current, strict=True):
            if average.is_floating_point():
                average.lerp_(value, 1 - decay)
            else:
                average.copy_(average * decay + value * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> _Averages:
    """The function that takes current values into means of all values so far, in place."""

    @no_grad()
    def swa_update(averages, current, num_averaged):
        part = 1 / (int(num_averaged) + 1)
        for average, value in zip(averages, current, strict=True):
            if average.is_floating_point():
                average.lerp_(value, part)
            else:
                average.copy_(average + (value - average) * part)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> _Average:
    """The function of an average and the current value that moves by 1 - decay."""
    _check_decay(decay)

    @no_grad()
    def ema_update(average, current, _):
        return decay * average + (1 - decay) * current

    return ema_update


def get_swa_avg_fn() -> _Average:
    """The function of a mean and the current value that gives the mean of all values so far."""

    @no_grad()
    def swa_update(average, current, num_averaged):
        return average + (current - average) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's.

    update_parameters(model) takes the current values in; the first time it copies them. avg_fn gets
    (average, value, number of models so far), multi_avg_fn lists of both, and writes in place;
    without them it is the mean. use_buffers: buffers are averaged too, not copied.
    """

    n_averaged: Tensor

    def __init__(self, model: Module, device: Any = None, avg_fn: _Average | None = None,
                 multi_avg_fn: _Averages | None = None, use_buffers: bool = False) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", foregrad.tensor(0, dtype=foregrad.int64))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """That of the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Takes the parameters of a model into the averages."""
        mine, theirs = self._averaged(self.module), self._averaged(model)
        if int(self.n_averaged) == 0:
            for average, value in zip(mine, theirs):
                average.copy_(value)
        elif self.avg_fn is None:
            average = self.multi_avg_fn or get_swa_multi_avg_fn()
            for dtype in dict.fromkeys(one.dtype for one in mine):
                places = [i for i, one in enumerate(mine) if one.dtype is dtype]
                average([mine[i] for i in places], [theirs[i] for i in places], self.n_averaged)
        else:
            for average, value in zip(mine, theirs):
                average.copy_(self.avg_fn(average, value, self.n_averaged))
        if not self.use_buffers:
            for buffer, value in zip(self.module.buffers(), model.buffers(), strict=True):
                buffer.detach().copy_(value.detach())
        self.n_averaged += 1

    def _averaged(self, model):
        tensors = model.parameters()
        if self.use_buffers:
            tensors = itertools.chain(tensors, model.buffers())
        return [tensor.detach() for tensor in tensors]


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Computes the statistics of batch norms anew, from all batches of a loader.

    A batch is a tensor, or a list or tuple that begins with the input of the model."""
    norms = {module: module.momentum for module in model.modules()
             if isinstance(module, foregrad.nn.modules.batchnorm._BatchNorm)}
    if not norms:
        return
    was_training = model.training
    model.train()
    for module in norms:
        module.reset_running_stats()
        module.momentum = None  # the mean of all batches
    for batch in loader:
        given = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(given if device is None else given.to(device))
    for module, momentum in norms.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the rate that is there to swa_lr, in anneal_epochs epochs."""

    def __init__(self, optimizer: _Optimizer, swa_lr: float | Sequence[float],
                 anneal_epochs: int = 10, anneal_strategy: str = "cos",
                 last_epoch: int = -1) -> None:
        rates = _per_group("swa_lr", optimizer, swa_lr)
        for rate, group in zip(rates, optimizer.param_groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError("anneal_strategy must be one of 'cos' or 'linear', instead got "
                             f"{anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError("anneal_epochs must be equal or greater than 0, got "
                             f"{anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """The part of the way at a part of the time."""
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self):
        self._warn_outside_step()
        step, epochs = self._step_count - 1, max(1, self.anneal_epochs)
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = (self.anneal_func(max(0, min(1, at / epochs))) for at in (step - 1, step))
        found = []
        for group in self.optimizer.param_groups:
            end = group["swa_lr"]
            start = end if before == 1 else (group["lr"] - before * end) / (1 - before)
            found.append(end * now + start * (1 - now))
        return found

"""Schedules made of schedules: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right

from foregrad.optim.lr_scheduler import LRScheduler, _of_groups, _set_value

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from foregrad.compiler import CompiledStep
    from foregrad.optim.optimizer import Optimizer

    _Optimizer = Optimizer | CompiledStep


class _OfSchedules(LRScheduler):
    """The base of both."""

    def _check(self, optimizer, schedulers):
        from foregrad.optim.lr_scheduler import ReduceLROnPlateau

        who = type(self).__name__
        for i, one in enumerate(schedulers):
            if not hasattr(one, "optimizer"):
                raise TypeError(f"{who} at index {i} should have `optimizer` as its attribute.")
            if isinstance(one, ReduceLROnPlateau):
                raise ValueError(f"{who} does not support `ReduceLROnPlateau` scheduler as it "
                                 "requires additional kwargs to be specified when calling `step`, "
                                 f"but got one at index {i} in the given schedulers sequence.")
            if one.optimizer is not optimizer:
                raise ValueError(f"{who} expects all schedulers to belong to the same optimizer, "
                                 f"but got scheduler {type(one).__name__} at index {i}, which has "
                                 "another one")

    def state_dict(self):
        """All but the optimiser, with the states of the schedules."""
        state = super().state_dict()
        state["_schedulers"] = [one.state_dict() for one in self._schedulers]
        return state

    def load_state_dict(self, state_dict):
        """Takes what state_dict() returned."""
        for one, state in zip(self._schedulers, state_dict["_schedulers"]):
            one.load_state_dict(state)
        super().load_state_dict({**state_dict, "_schedulers": self._schedulers})


class SequentialLR(_OfSchedules):
    """One schedule after the other; milestones say when the next one begins."""

    def __init__(self, optimizer: _Optimizer, schedulers: Sequence[LRScheduler],
                 milestones: Sequence[int], last_epoch: int = -1) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        self._check(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects number of schedulers provided to be "
                             "one more than the number of milestone points, but got number of "
                             f"schedulers {len(schedulers)} and the number of milestones to be "
                             f"equal to {len(milestones)}")
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch, self.optimizer = last_epoch + 1, optimizer
        for group in optimizer.param_groups:
            _set_value(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: LRScheduler | None = None) -> None:
        """Takes back the first step that every schedule has taken."""
        of = self if sched is None else sched
        if hasattr(of, "_schedulers"):
            for one in of._schedulers:
                self.recursive_undo(one)
        elif hasattr(of, "last_epoch"):
            of.last_epoch -= 1

    def step(self) -> None:
        """Goes on by one."""
        self.last_epoch += 1
        place = bisect_right(self._milestones, self.last_epoch)
        current = self._schedulers[place]
        if place > 0 and self._milestones[place - 1] == self.last_epoch:
            current._update_lr(0)
        else:
            current.step()
        self._last_lr = current.get_last_lr()


class ChainedScheduler(_OfSchedules):
    """Several schedules at once: each changes the rate that the one before it left."""

    def __init__(self, schedulers: Sequence[LRScheduler],
                 optimizer: _Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but "
                             "got no scheduler.")
        optimizer = optimizer or getattr(schedulers[0], "optimizer", None)
        self._check(optimizer, schedulers)
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = _of_groups(optimizer, "lr")

    def step(self) -> None:
        """Goes on by one in all schedules."""
        for one in self._schedulers:
            one.step()
        self._last_lr = _of_groups(self.optimizer, "lr")

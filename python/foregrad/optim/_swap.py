"""An optimiser with other parameters and state for a while."""

from __future__ import annotations

import contextlib
from collections import defaultdict

from foregrad import _C

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterator
    from foregrad import Tensor
    from foregrad.optim.optimizer import Optimizer
    from typing import Any

Tensor = _C.Tensor


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(optimizer: Optimizer, swapin_parameters: dict[str, Tensor],
                                       swapin_optim_state: dict[str, Any]) -> Iterator[None]:
    """Inside of it the optimiser works on other parameters, with the state and the settings of a
    state_dict(); in the end it has its own again."""
    state, groups = _checked(optimizer, swapin_optim_state)
    parameters = list(swapin_parameters.values())
    if len(parameters) < sum(len(group["params"]) for group in groups):
        raise RuntimeError("swap_in_optimizer_params_and_state requires the explicit parameter "
                           "state to match optimizer.param_groups ordering.")
    before, kept = [dict(group) for group in optimizer.param_groups], optimizer.state
    try:
        swapped = defaultdict(dict)
        for group, given in zip(optimizer.param_groups, groups):
            count = len(given["params"])
            some, parameters = parameters[:count], parameters[count:]
            group.update({**given, "params": some})
            swapped.update((parameter, dict(state.get(number, {})))
                           for parameter, number in zip(some, given["params"]))
        optimizer.state = swapped
        yield
    finally:
        for group, own in zip(optimizer.param_groups, before):
            group.clear()
            group.update(own)
        optimizer.state = kept


def _checked(optimizer, given):
    who = "swap_in_optimizer_params_and_state requires"
    if not optimizer.state:
        raise RuntimeError(f"{who} initialized optimizer state.")
    state = given.get("state") if isinstance(given, dict) else None
    groups = given.get("param_groups") if isinstance(given, dict) else None
    if not isinstance(state, dict) or not isinstance(groups, list):
        raise RuntimeError(f"{who} an optimizer state_dict() with 'state' and 'param_groups'.")
    if len(groups) != len(optimizer.param_groups):
        raise RuntimeError("swapin_optim_state has a different number of parameter groups than the "
                           "live optimizer.")
    numbers = set()
    for i, (mine, theirs) in enumerate(zip(optimizer.param_groups, groups)):
        if mine.keys() != theirs.keys() or len(mine["params"]) != len(theirs["params"]):
            raise RuntimeError(f"{who} param group keys and numbers of params of the live "
                               f"optimizer; group {i} has others: {sorted(theirs)}.")
        numbers.update(theirs["params"])
    if not state.keys() <= numbers:
        raise RuntimeError(f"{who} state keyed by packed parameter ids; got extra keys "
                           f"{sorted(map(str, state.keys() - numbers))}.")
    return state, groups

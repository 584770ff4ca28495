"""state_dict() of optimisers, in PyTorch's form: parameters are numbers."""

import copy
from collections import defaultdict
from collections.abc import Iterable

from foregrad import _C

Tensor = _C.Tensor


def packed_state(optimizer):
    """The result of state_dict()."""
    numbers, groups = {}, []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            numbers.setdefault(id(parameter), len(numbers))
        groups.append({**{key: value for key, value in group.items() if key != "params"},
                       "params": [numbers[id(p)] for p in group["params"]]})
    state = {numbers[id(key)] if isinstance(key, Tensor) else key: value
             for key, value in optimizer.state.items()}
    return {"state": state, "param_groups": groups}


def loaded_state(optimizer, state_dict):
    """State by parameter and groups, from the result of state_dict()."""
    saved, groups = state_dict["param_groups"], optimizer.param_groups
    if len(groups) != len(saved):
        raise ValueError("loaded state dict has a different number of parameter groups")
    if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, saved)):
        raise ValueError("loaded state dict contains a parameter group that doesn't match the size "
                         "of optimizer's group")
    parameters = {number: parameter for mine, theirs in zip(groups, saved)
                  for number, parameter in zip(theirs["params"], mine["params"])}
    state = defaultdict(dict)
    for key, value in state_dict["state"].items():
        if key in parameters:
            state[parameters[key]] = _for_parameter(optimizer, value, parameters[key])
        else:
            state[key] = copy.deepcopy(value)
    made = []
    for mine, theirs in zip(groups, saved):
        taken = {key: copy.deepcopy(value) for key, value in theirs.items() if key != "params"}
        if "param_names" in mine:
            taken.setdefault("param_names", mine["param_names"])
        made.append({**taken, "params": mine["params"]})
    return state, made


def value_for_parameter(value, parameter, key=None):
    """A copy; floating tensors get the dtype of the parameter, but counts of steps keep theirs."""
    value = value.detach().clone()
    keep = key == "step" or not parameter.is_floating_point()
    return value if keep else value.to(parameter.dtype)


def _for_parameter(optimizer, value, parameter, key=None):
    if isinstance(value, Tensor):
        return optimizer._process_value_according_to_param_policy(parameter, value, None, None, key)
    if isinstance(value, dict):
        return {k: _for_parameter(optimizer, v, parameter, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_for_parameter(optimizer, v, parameter) for v in value)
    return copy.deepcopy(value)

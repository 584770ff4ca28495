"""Parameters of compile_step() as groups, in the form of PyTorch's optimisers."""

from foregrad import _C

Tensor = _C.Tensor


def as_groups(params, defaults):
    """Dictionaries with "params" and a value for every setting."""
    if isinstance(params, Tensor):
        raise TypeError("compile_step: params argument given to the optimizer should be an "
                        "iterable of Tensors or dicts, but got a Tensor; pass a list")
    if hasattr(params, "parameters") and callable(params.parameters):
        params = params.parameters()
    try:
        params = params.items() if isinstance(params, dict) else params
        params = list(params)
    except TypeError:
        raise TypeError("compile_step: expected tensors, a dictionary of tensors, groups, or an "
                        f"object with parameters(), got {type(params).__name__}") from None
    if not any(isinstance(item, dict) for item in params):
        params = [{"params": params}]
    return [_group(group, defaults) for group in params]


def _group(given, defaults):
    if not isinstance(given, dict) or "params" not in given:
        raise TypeError("compile_step: a group is a dictionary with 'params', and settings of its "
                        f"own; got {given!r}")
    unknown = given.keys() - defaults.keys() - {"params", "param_names"}
    if unknown:
        raise ValueError(f"compile_step: a group has the unknown settings {sorted(unknown)}; "
                         f"expected some of {list(defaults)}")
    items = given["params"]
    items = [items] if isinstance(items, Tensor) else list(
        items.items() if isinstance(items, dict) else items)
    named = [item for item in items if isinstance(item, tuple) and len(item) == 2]
    group = {**defaults, **given, "params": [_parameter(item) for item in items]}
    if named and len(named) == len(items):
        group["param_names"] = [name for name, _ in named]
    return group


def _parameter(item):
    parameter = item[1] if isinstance(item, tuple) and len(item) == 2 else item
    if not isinstance(parameter, Tensor):
        raise TypeError("compile_step: optimizer can only optimize Tensors, but one of the params "
                        f"is {type(parameter).__name__}")
    return parameter

"""Puts the functions of the table under their names in Python; their entries say which."""

from foregrad import _C


def functions():
    """Every function of the table by its name."""
    return {name: f for name, f in vars(_C._functions).items() if not name.startswith("__")}


def functions_of(module):
    """The functions that entries name "module.function", by the names there."""
    entries = _C._functions.__python_names__()
    return {alias.removeprefix(module + "."): getattr(_C._functions, name)
            for name, entry in entries.items() for alias in entry["aliases"]
            if alias.startswith(module + ".")}


def install_functions(names):
    """Puts the functions into a module's names, and other names of methods on Tensor."""
    entries = _C._functions.__python_names__()
    for name, function in functions().items():
        base = name.removesuffix("_")
        suffix = name[len(base):]
        entry = {**entries[base], "aliases": [one for one in entries[base]["aliases"]
                                              if "." not in one]}  # those are in modules
        aliases = [one for one in entry["aliases"] if not one.endswith("_")]
        if hasattr(_C.Tensor, name):
            for one in aliases:
                setattr(_C.Tensor, one + suffix, getattr(_C.Tensor, name))
        if suffix:
            shown = [name] if entry["inplace_function"] else []
            shown += [one for one in entry["aliases"] if one.endswith("_")]
        else:
            shown = [name, *aliases] if entry["shown"] in ("everywhere", "as_function") else []
        names.update(dict.fromkeys(shown, function))
        _drop_method(name, suffix, entry["shown"])
    # normal() is another function than the one whose in-place form fills a tensor.
    _C.Tensor.normal_ = _C.Tensor.normal_functional_
    del _C.Tensor.normal_functional_


def _drop_method(name, suffix, shown):
    """Deletes a method that PyTorch does not have; in-place forms of hidden functions stay."""
    if shown in ("as_function", "in_nn") or shown == "nowhere" and not suffix:
        if name in vars(_C.Tensor):
            delattr(_C.Tensor, name)

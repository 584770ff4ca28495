"""What the inputs of a graph are called: as the function's own code calls them."""

import inspect

from foregrad import _C


def _positional_names(function, count):
    """What the function calls the first arguments of a call."""
    if hasattr(function, "forward") and not isinstance(function, type):
        function = function.forward
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # it does not say
        parameters = []
    names = []
    for one in parameters:
        if one.kind is one.VAR_POSITIONAL:
            names += [f"{one.name}[{i}]" for i in range(count - len(names))]
        elif one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD):
            names.append(one.name)
    return names + [f"args[{i}]" for i in range(len(names), count)]


def _leaves(name, tree, found):
    """Adds (name, leaf) for every leaf, in the order of _C.Arguments."""
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        for field, item in zip(tree._fields, tree):
            _leaves(f"{name}.{field}", item, found)
    elif type(tree) in (tuple, list):
        for i, item in enumerate(tree):
            _leaves(f"{name}[{i}]", item, found)
    elif isinstance(tree, dict) and type(tree).__module__ in ("builtins", "collections"):
        for key, item in tree.items():
            _leaves(f"{name}[{key!r}]", item, found)
    else:
        found.append((name, tree))


def _named_leaves(function, arguments):
    args, kwargs = arguments
    found = []
    for name, value in zip(_positional_names(function, len(args)), args):
        _leaves(name, value, found)
    for name, value in kwargs.items():
        _leaves(name, value, found)
    return found


def object_names(function, arguments):
    """(object, name) of the arguments that are looked into by their attributes."""
    return [(leaf, name) for name, leaf in _named_leaves(function, arguments)
            if not isinstance(leaf, (_C.Tensor, float))]


def input_names(function, arguments, fixed, others):
    """One name per input: each tensor once, the floats that are inputs, `others`."""
    tensors, floats, known = [], [], set()
    for name, leaf in _named_leaves(function, arguments):
        if isinstance(leaf, _C.Tensor):
            if id(leaf) not in known:
                known.add(id(leaf))
                tensors.append(name)
        elif type(leaf) is float:
            floats.append(name)
    floats = [name for i, name in enumerate(floats) if i not in fixed]
    return [as_text(name) for name in tensors + floats + others]


def as_text(name):
    """A name as the text of a graph can have it."""
    return name.replace('"', "'").replace("\n", " ")

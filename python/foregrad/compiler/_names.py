"""Names of the inputs of a graph, as the function's own code has them."""

from functools import partial
from types import FunctionType, MethodType

_HAS_REST = 0x04  # of a code object: inspect.CO_VARARGS


def _parameters(function):
    """Names of a function's positional parameters, and of its *rest parameter or None."""
    if type(function) is partial and not function.keywords:
        names, rest = _parameters(function.func)
        return names[len(function.args):], rest
    bound = isinstance(function, MethodType)
    plain = function.__func__ if bound else function
    if type(plain) is FunctionType and not {"__wrapped__", "__signature__"} & vars(plain).keys():
        code = plain.__code__
        end = code.co_argcount + code.co_kwonlyargcount
        rest = code.co_varnames[end] if code.co_flags & _HAS_REST else None
        return list(code.co_varnames[bound:code.co_argcount]), rest
    import inspect  # slow to load, and most functions say it themselves
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # it does not say
        return [], None
    rest = [one.name for one in parameters if one.kind is one.VAR_POSITIONAL]
    names = [one.name for one in parameters
             if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return names, rest[0] if rest else None


def _positional_names(function, count):
    """The function's own names of the first arguments of a call."""
    if hasattr(function, "forward") and not isinstance(function, type):
        function = function.forward
    names, rest = _parameters(function)
    first = 0 if rest is None else len(names)
    return names + [f"{rest or 'args'}[{i - first}]" for i in range(len(names), count)]


def argument_names(function, given, count):
    """Names of the tensors, floats and objects of a call with `count` positional arguments."""
    return given.names(_positional_names(function, count))


def input_names(names, fixed, others):
    """One name per input: each tensor once, the floats that are inputs, `others`."""
    tensors, floats, _ = names
    floats = [name for i, name in enumerate(floats) if i not in fixed]
    return [as_text(name) for name in tensors + floats + others]


def as_text(name):
    """A name as the text of a graph can have it."""
    return name.replace('"', "'").replace("\n", " ")

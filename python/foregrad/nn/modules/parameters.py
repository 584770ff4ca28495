"""ParameterList and ParameterDict."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from foregrad import _C
from foregrad.nn.modules.module import Module
from foregrad.nn.parameter import Parameter

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterator, KeysView
    from typing import Any, overload
    from typing_extensions import Self

__all__ = ["ParameterDict", "ParameterList"]

Tensor = _C.Tensor


def _as_parameter(value):
    plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if plain else value


def _described(value, kind_of):
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"{kind} containing: [{kind_of(value)} of size {'x'.join(map(str, value.shape))}]"


class _Parameters(Module):
    _kind_of = None

    def extra_repr(self):
        return "\n".join(f"  ({key}): {_described(value, type(self)._kind_of)}"
                         for key, value in self._pairs())

    def __call__(self, *args, **kwargs):
        raise RuntimeError(f"{type(self).__name__} should not be called.")


class ParameterList(_Parameters):
    """A list of parameters; tensors become parameters."""

    if TYPE_CHECKING:
        @overload
        def __getitem__(self, idx: int) -> Any: ...
        @overload
        def __getitem__(self, idx: slice) -> Self: ...

    _kind_of = operator.attrgetter("dtype")

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _key(self, index):
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return str(index % len(self))

    def _pairs(self):
        return enumerate(self)

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return type(self)([self[i] for i in range(len(self))[idx]])
        return getattr(self, self._key(idx))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, self._key(idx), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def append(self, value: Any) -> Self:
        """Adds a parameter at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Adds parameters at the end."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError("ParameterList.extend should be called with an iterable, but got "
                            f"{type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self


def _check_key(key):
    if not isinstance(key, str):
        raise TypeError("Index given to ParameterDict cannot be used as a key as it is not a "
                        f"string (type is '{type(key).__name__}').")


class ParameterDict(_Parameters):
    """A dictionary of parameters; tensors become parameters."""

    _kind_of = operator.methodcaller("type")

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _pairs(self):
        return self.items()

    def __getitem__(self, key: str) -> Any:
        _check_key(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        _check_key(key)
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __or__(self, other: ParameterDict) -> ParameterDict:
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self

    def copy(self) -> ParameterDict:
        """Another dictionary of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    @classmethod
    def fromkeys(cls, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A dictionary with one value for all names."""
        return cls({key: default for key in keys})

    def setdefault(self, key: str, default: Any = None) -> Any:
        """A parameter; the default is added where there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Removes all parameters."""
        for key in list(self._keys):
            del self[key]

    def popitem(self) -> tuple[str, Any]:
        """Removes the last parameter and returns it with its name."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        value = self[key]
        del self[key]
        return key, value

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._keys.keys()

    def values(self) -> list[Any]:
        """The parameters."""
        return [self[key] for key in self._keys]

    def items(self) -> list[tuple[str, Any]]:
        """Names and parameters."""
        return [(key, self[key]) for key in self._keys]

    def get(self, key: str, default: Any = None) -> Any:
        """A parameter, or the default."""
        return self[key] if key in self else default

    def pop(self, key: str) -> Any:
        """Removes a parameter and returns it."""
        value = self[key]
        del self[key]
        return value

    def update(self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Adds parameters from a dictionary, sorted by name if it is a plain one, or from pairs."""
        if not isinstance(parameters, (Iterable, ParameterDict)):
            raise TypeError("ParameterDict.update should be called with an iterable of key/value "
                            f"pairs, but got {type(parameters).__name__}")
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            pairs = list(parameters.items())
        elif isinstance(parameters, Mapping):
            pairs = sorted(parameters.items())
        else:
            pairs = [_checked_pair(i, pair) for i, pair in enumerate(parameters)]
        for key, value in pairs:
            self[key] = value


def _checked_pair(i, pair):
    if not isinstance(pair, Iterable):
        raise TypeError(f"ParameterDict update sequence element #{i} should be Iterable; is "
                        f"{type(pair).__name__}")
    pair = tuple(pair)
    if len(pair) != 2:
        raise ValueError(f"ParameterDict update sequence element #{i} has length {len(pair)}; 2 is "
                         "required")
    return pair

"""Sequential, ModuleList and ModuleDict."""

from __future__ import annotations

import operator
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from foregrad.nn.modules.module import Module

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterator, KeysView, ValuesView
    from foregrad import Tensor
    from typing import Any, overload
    from typing_extensions import Self

__all__ = ["Container", "ModuleDict", "ModuleList", "Sequential"]


def _numbered(modules):
    return {str(i): module for i, module in enumerate(modules)}


class _Ordered(Module):
    """The base of lists of modules: places, appending, removing."""

    if TYPE_CHECKING:
        @overload
        def __getitem__(self, idx: int) -> Module: ...
        @overload
        def __getitem__(self, idx: slice) -> Self: ...

    def _key(self, index):
        """The name of the module at a place."""
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return list(self._modules)[index]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._key(idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        keys = list(self._modules)[idx] if isinstance(idx, slice) else [self._key(idx)]
        for key in keys:
            delattr(self, key)
        self._modules = _numbered(self._modules.values())  # the numbers stay without gaps

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def append(self, module: Module) -> Self:
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Adds modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"{type(self).__name__}.extend should be called with an iterable, but "
                            f"got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def _insert(self, index, module):
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._modules = _numbered(modules)

    def pop(self, key: int) -> Module:
        """Removes a module and returns it."""
        module = self[key]
        del self[key]
        return module


class Container(Module):
    """A module with children by name; Module itself is as good."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        warnings.warn("`nn.Container` is deprecated; derive from `nn.Module`, which can all of it",
                      FutureWarning, stacklevel=2)
        for name, module in kwargs.items():
            self.add_module(name, module)


class Sequential(_Ordered):
    """Calls one module after the other."""

    if TYPE_CHECKING:
        @overload
        def __init__(self, *args: Module) -> None: ...
        @overload
        def __init__(self, arg: OrderedDict[str, Module], /) -> None: ...
        def __rmul__(self, other: int) -> Sequential: ...

    def __init__(self, *args):
        super().__init__()
        named = (args[0] if len(args) == 1 and isinstance(args[0], OrderedDict)
                 else _numbered(args))
        for name, module in named.items():
            self.add_module(name, module)

    def forward(self, input: Tensor) -> Tensor:
        for module in self:
            input = module(input)
        return input

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._key(idx)]

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Adds modules at the end."""
        return super().extend(sequential)

    def insert(self, index: int, module: Module) -> Self:
        """Adds a module before a place."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        self._insert(index, module)
        return self

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *_checked(other))

    def __iadd__(self, other: Sequential) -> Self:
        return self.extend(_checked(other))

    def __mul__(self, other: int) -> Sequential:
        _check_factor(self, other)
        return Sequential(*list(self) * other)

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        _check_factor(self, other)
        return self.extend(list(self) * (other - 1))


def _checked(other):
    if not isinstance(other, Sequential):
        raise ValueError("add operator supports only objects of Sequential class, but "
                         f"{type(other)} is given.")
    return other


def _check_factor(module, factor):
    if not isinstance(factor, int):
        raise TypeError(f"unsupported operand type(s) for *: {type(module)} and {type(factor)}")
    if factor <= 0:
        raise ValueError(f"Non-positive multiplication factor {factor} for {type(module)}")


class ModuleList(_Ordered):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return self._modules[self._key(idx)]

    def insert(self, index: int, module: Module) -> None:
        """Adds a module before a place."""
        self._insert(index, module)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __repr__(self):
        runs = []  # equal modules one after the other are printed once: [first, last, text]
        for i, text in enumerate(repr(module) for module in self):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = [f"({first}): {text}" if first == last
                 else f"({first}-{last}): {last - first + 1} x {text}"
                 for first, last, text in runs]
        inside = "".join("\n  " + line.replace("\n", "\n  ") for line in lines)
        return f"{self._get_name()}({inside}\n)" if inside else f"{self._get_name()}()"


class ModuleDict(Module):
    """A dictionary of modules."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Removes all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Removes a module and returns it."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Adds modules from a dictionary or from pairs; those of equal names are replaced."""
        if not isinstance(modules, Iterable):
            raise TypeError("ModuleDict.update should be called with an iterable of key/value "
                            f"pairs, but got {type(modules).__name__}")
        pairs = modules.items() if isinstance(modules, (Mapping, ModuleDict)) else modules
        for i, pair in enumerate(pairs):
            if not isinstance(pair, Iterable):
                raise TypeError(f"ModuleDict update sequence element #{i} should be Iterable; is "
                                f"{type(pair).__name__}")
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(f"ModuleDict update sequence element #{i} has length "
                                 f"{len(pair)}; 2 is required")
            self[pair[0]] = pair[1]

"""factory_kwargs: keywords of a constructor for the functions that make tensors."""

from __future__ import annotations

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any

__all__ = ["factory_kwargs"]

_KEYS = ("device", "dtype", "memory_format")


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """device, dtype and memory_format of keywords, which may also stand in `factory_kwargs`."""
    if kwargs is None:
        return {}
    unknown = kwargs.keys() - {*_KEYS, "factory_kwargs"}
    if unknown:
        raise TypeError(f"unexpected kwargs {unknown}")
    found = dict(kwargs.get("factory_kwargs", {}))
    for key in _KEYS:
        if key not in kwargs:
            continue
        if key in found:
            raise TypeError(f"{key} specified twice, in **kwargs and in factory_kwargs")
        found[key] = kwargs[key]
    return found

"""Locations of memory: which device a file names, and map_location, which may change it.

Only the cpu exists here. A file that names another device needs a map_location.
"""

from __future__ import annotations

from foregrad import _types as types
from foregrad.storage import TypedStorage, UntypedStorage

registered = []  # (priority, tagger, deserializer) of other packages, by priority


def restored(storage, location):
    """The memory where a file says that it is."""
    if type(location) is not str:
        raise TypeError("load: the location of memory is of the type "
                        f"{type(location).__name__}; expected a text")
    for _, _, deserializer in registered:
        made = deserializer(storage, location)
        if made is not None:
            return made
    kind = location.partition(":")[0]
    if kind == "cpu":
        return storage
    if kind in ("cuda", "mps", "xpu", "hpu", "meta", "mtia", "privateuseone"):
        raise RuntimeError(f"load: the tensors are to be on {location!r}, and only the cpu exists "
                           "here; pass map_location='cpu'")
    raise RuntimeError(f"load: there is no device for the location {location!r}; pass "
                       "map_location='cpu'")


def tag(storage):
    """The location that a file gives to memory."""
    for _, tagger, _ in registered:
        made = tagger(storage)
        if made is not None:
            return made
    return "cpu"


def _checked_device(place):
    name = place if isinstance(place, str) else place.type
    kind = name.partition(":")[0]
    if kind != "cpu":
        raise RuntimeError(f"load: map_location is {str(place)!r}, and only the cpu exists here; "
                           "pass map_location='cpu'")
    types.device(place)
    return "cpu"


def _untyped(made):
    if isinstance(made, TypedStorage):
        made = made.untyped()
    if not isinstance(made, UntypedStorage):
        raise TypeError(f"load: map_location gives an object of the type {type(made).__name__}; "
                        "expected a storage, or None for the location of the file")
    return made


def mapping(map_location):
    """The function of memory and location that map_location stands for."""
    if map_location is None:
        return restored
    if isinstance(map_location, (str, types.device)):
        where = _checked_device(map_location)
        return lambda storage, location: restored(storage, where)
    if isinstance(map_location, dict):
        def by_name(storage, location):
            where = map_location.get(location, location)
            return restored(storage, str(where) if isinstance(where, types.device) else where)
        return by_name
    if not callable(map_location):
        raise TypeError("load: map_location is of the type "
                        f"{type(map_location).__name__}; expected a text, a device, a dictionary "
                        "of texts, or a function of storage and location")

    def by_function(storage, location):
        made = map_location(storage, location)
        return restored(storage, location) if made is None else _untyped(made)
    return by_function

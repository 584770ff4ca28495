"""save() and load(): objects with tensors in one file, in PyTorch's formats or in safetensors.

A file is an archive as torch.save writes it, so that both libraries read it; a name that ends in
.safetensors makes a file of that format instead. Loading builds tensors, containers, numbers and
texts; other classes are refused unless the caller trusts them (`add_safe_globals`) or the whole
file (`weights_only=False`, which runs what the file says).
"""

from __future__ import annotations

import contextlib
import enum
import os
import pickle
import sys
from typing import NamedTuple

from foregrad._saving import (
    archive,
    locations,
    names,
    places,
    reading,
    rules,
    stream,
    tensors_file,
)
from foregrad._saving.machine import Machine
from foregrad._saving.pickler import pickled
from foregrad._saving.rebuild import _rebuild  # noqa: F401  as older files name it

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from foregrad import device
    from foregrad.storage import TypedStorage, UntypedStorage
    from typing import Any, BinaryIO

    _File = str | os.PathLike[str] | BinaryIO
    _Named = type | Callable[..., Any] | tuple[type | Callable[..., Any], str]
    _Storage = UntypedStorage | TypedStorage
    _Location = Callable[[UntypedStorage, str], _Storage | None] | str | device | Mapping[
        str, str] | None

__all__ = ["LoadEndianness", "add_safe_globals", "clear_safe_globals", "default_restore_location",
           "get_crc32_options", "get_default_load_endianness", "get_default_mmap_options",
           "get_safe_globals", "get_unsafe_globals_in_checkpoint", "load", "location_tag",
           "register_package", "safe_globals", "save", "set_crc32_options",
           "set_default_load_endianness", "set_default_mmap_options", "skip_data"]

DEFAULT_PROTOCOL = 2
_PRIVATE, _SHARED = 2, 1  # MAP_PRIVATE and MAP_SHARED of mmap
_given = []  # the arguments of add_safe_globals(), as they came


class LoadEndianness(enum.Enum):
    """The order of bytes of files that do not state it."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _State:
    """Settings of the whole process."""

    order = None
    mmap_flags = _PRIVATE
    with_checksums = True
    skip_data = False


# ---- writing

def _check_protocol(protocol):
    if not isinstance(protocol, int) or not 2 <= protocol <= pickle.HIGHEST_PROTOCOL:
        raise ValueError(f"save: pickle_protocol is {protocol!r}; expected 2 to "
                         f"{pickle.HIGHEST_PROTOCOL}, and 2 for files that PyTorch can read")


def save(obj: Any, f: _File, pickle_module: Any = pickle, pickle_protocol: int = DEFAULT_PROTOCOL,
         _use_new_zipfile_serialization: bool = True,
         _disable_byteorder_record: bool = False) -> None:
    """Writes an object to a file that PyTorch can read, or to one of the format safetensors."""
    _check_protocol(pickle_protocol)
    if not hasattr(pickle_module, "Pickler"):
        raise AttributeError(f"save: pickle_module is {pickle_module!r}; expected a module with "
                             "the class Pickler, as pickle has")
    is_path = places.is_path(f)
    if is_path and os.fsdecode(f).endswith(".safetensors"):
        tensors_file.write_tensors_file(obj, f, pickle_module, pickle_protocol)
    elif not _use_new_zipfile_serialization:
        with places.writing(f) as write:
            stream.write_stream(write, obj, pickle_module, pickle_protocol)
    else:
        data, storages = pickled(obj, pickle_module, pickle_protocol)
        with places.writing(f) as write:
            writer = archive.ArchiveWriter(write, _folder(f) if is_path else "archive",
                                           _State.with_checksums)
            _write_archive(writer, data, storages, not _disable_byteorder_record)


def _folder(path):
    """The folder of the records: the name of the file without its ending."""
    stem = os.path.splitext(os.path.basename(os.fsdecode(path)))[0]
    plain = stem not in ("", ".", "..") and "\\" not in stem and stem.isprintable()
    return stem if plain else "archive"


def _write_archive(writer, data, storages, with_order):
    writer.add("data.pkl", data)
    writer.add(".format_version", b"1")
    writer.add(".storage_alignment", b"64")
    if with_order:
        writer.add("byteorder", sys.byteorder.encode())
    for number, storage in enumerate(storages):
        if _State.skip_data:
            writer.reserve(f"data/{number}", storage.nbytes())
        else:
            writer.add(f"data/{number}", memoryview(storage._bytes))
    writer.add("version", b"3\n")
    writer.add(".data/serialization_id", writer.identity())
    writer.close()


# ---- reading

class _Settings(NamedTuple):
    """Arguments of load() after they were checked."""

    weights_only: bool
    place: Any
    pickle_module: Any
    options: dict
    mmap: bool
    mmap_flags: int
    skip_data: bool
    default_order: bytes


def _options(given, weights_only):
    """Arguments of the unpickler: our own takes the encoding of texts of Python 2."""
    options = {"encoding": "utf-8", **given}
    unknown = set(options) - {"encoding"}
    if weights_only and unknown:
        raise TypeError(f"load: got the arguments {sorted(unknown)}; expected encoding only, "
                        "unless weights_only=False")
    return options


def _order():
    if _State.order in (None, LoadEndianness.NATIVE):
        return sys.byteorder.encode()
    return b"little" if _State.order is LoadEndianness.LITTLE else b"big"


def load(f: _File, map_location: _Location = None, pickle_module: Any = None, *,
         weights_only: bool | None = True, mmap: bool | None = None,
         **pickle_load_args: Any) -> Any:
    """Reads a file of save() or torch.save; of a plain safetensors file the tensors by name."""
    careful = weights_only is not False
    if careful and pickle_module not in (None, pickle):
        raise RuntimeError(f"load: pickle_module is {pickle_module!r}, and weights_only=True reads "
                           "with our own unpickler only; leave it out, or pass weights_only=False")
    if mmap and not places.is_path(f):
        raise ValueError("load: mmap=True needs a path, because only a file can be mapped; f is a "
                         f"{type(f).__name__}")
    settings = _Settings(careful, locations.mapping(map_location), pickle_module,
                         _options(pickle_load_args, careful), bool(mmap), _State.mmap_flags,
                         _State.skip_data, _order())
    with places.Source(f) as source:
        kind = _kind(source)
        if mmap and kind is not reading.read_archive:
            raise RuntimeError("load: mmap=True needs an archive, as save() writes it to a name "
                               "that does not end in .safetensors; load this file without mmap")
        return kind(source, settings)


def _kind(source):
    """The function that reads a file, by its first bytes."""
    start = source.read(0, 512)
    if not start:
        raise EOFError("load: the file is empty")
    if start[:4] in (b"PK\3\4", b"PK\5\6"):
        return reading.read_archive
    if stream.is_stream(start):
        return stream.read_stream
    if start[257:262] == b"ustar":
        raise RuntimeError("load: the file is a tar archive of PyTorch 0.1, which is not read "
                           "here; load and save it with a newer PyTorch")
    if start[:1] == b"\x80" and not tensors_file.is_tensors_file(start):
        raise pickle.UnpicklingError("load: the file is a pickle of Python, and not one of save(); "
                                     "if you trust it, read it with pickle.load")
    return tensors_file.read_tensors_file


# ---- trust

def _by_name(things):
    """Classes and functions by the names under which files know them."""
    return {each[1]: each[0] if isinstance(each, tuple) else each
            for each in ((thing if isinstance(thing, tuple) else (thing, names.name_of(thing)))
                         for thing in things)}


def _checked(things):
    things = list(things)
    for thing in things:
        pair = isinstance(thing, tuple)
        if pair and (len(thing) != 2 or not callable(thing[0]) or not isinstance(thing[1], str)) \
                or not pair and not callable(thing):
            raise TypeError(f"safe_globals: {thing!r} is no class and no function, and no pair of "
                            "one with the name that files have for it")
    return things


def add_safe_globals(safe_globals: Sequence[_Named]) -> None:
    """Classes and functions that load() may use although a file names them."""
    things = _checked(safe_globals)
    _given.extend(thing for thing in things if thing not in _given)
    rules.trusted.update(_by_name(things))


def get_safe_globals() -> list[Any]:
    """The classes and functions that add_safe_globals() was given."""
    return list(_given)


def clear_safe_globals() -> None:
    """Takes back all that add_safe_globals() was given."""
    _given.clear()
    rules.trusted.clear()


class safe_globals(contextlib.ContextDecorator):
    """add_safe_globals() for the time of a `with`."""

    def __init__(self, safe_globals: Sequence[_Named]) -> None:
        self._added = _checked(safe_globals)

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self._added)

    def __exit__(self, *error: Any) -> None:
        clear_safe_globals()
        add_safe_globals(self._before)


def get_unsafe_globals_in_checkpoint(f: _File) -> list[str]:
    """The names in a file that load() would refuse; nothing of the file is run."""
    with places.Source(f) as source:
        kind = _kind(source)
        if kind is reading.read_archive:
            data = archive.Archive(source).read("data.pkl")
        elif kind is tensors_file.read_tensors_file:
            data = tensors_file.pickle_in(source)
        else:
            data = stream.object_pickle(source)
        listing = rules.Listing()
        if data is not None:
            Machine(data, listing).run()
        return listing.refused


# ---- settings

class skip_data:
    """Files are written and read without the bytes of tensors, for the time of a `with`.

    A file gets room for them; tensors that are read have memory without values.
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        if materialize_fake_tensors:
            raise NotImplementedError("skip_data: materialize_fake_tensors=True needs tensors "
                                      "without memory, which programs do not have here")

    def __enter__(self) -> None:
        self._before, _State.skip_data = _State.skip_data, True

    def __exit__(self, *error: Any) -> None:
        _State.skip_data = self._before


def get_crc32_options() -> bool:
    """Whether save() writes checksums of records."""
    return _State.with_checksums


def set_crc32_options(compute_crc32: bool) -> None:
    """Sets whether save() writes checksums of records; load() compares those that are there."""
    _State.with_checksums = bool(compute_crc32)


def get_default_load_endianness() -> LoadEndianness | None:
    """The order of bytes of files that do not state it."""
    return _State.order


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Sets the order of bytes of files that do not state it."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("set_default_load_endianness: expected a LoadEndianness or None, got "
                        f"{endianness!r}")
    _State.order = endianness


def get_default_mmap_options() -> int:
    """The flags of load(mmap=True)."""
    return _State.mmap_flags


class set_default_mmap_options:
    """Sets the flags of load(mmap=True): MAP_PRIVATE, or MAP_SHARED, which writes to the file."""

    def __init__(self, flags: int) -> None:
        if flags not in (_PRIVATE, _SHARED):
            raise ValueError("set_default_mmap_options: expected mmap.MAP_PRIVATE or "
                             f"mmap.MAP_SHARED, got {flags!r}")
        self._before, _State.mmap_flags = _State.mmap_flags, flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        _State.mmap_flags = self._before


# ---- locations

def location_tag(storage: _Storage) -> str:
    """The location of memory in a file: the cpu's."""
    return locations.tag(storage)


def default_restore_location(storage: _Storage, location: str) -> Any:
    """The memory at a location of a file; only the cpu exists here."""
    return locations.restored(storage, location)


def register_package(priority: int, tagger: Callable[[Any], str | None],
                     deserializer: Callable[[Any, str], Any]) -> None:
    """Asks other functions for locations and for memory at them, the lowest priority first."""
    locations.registered.append((priority, tagger, deserializer))
    locations.registered.sort(key=lambda each: each[0])

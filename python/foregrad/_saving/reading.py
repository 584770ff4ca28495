"""Reading of archives: the pickle inside, and the memory that it refers to."""

from __future__ import annotations

import io
import mmap
import pickle
import sys

from foregrad import _C
from foregrad import _types as types
from foregrad._saving import names, rules
from foregrad._saving.archive import Archive
from foregrad._saving.machine import Machine
from foregrad.storage import UntypedStorage, storage_of

_LATEST_VERSION = 10
_MAP_SHARED = 1


def bad_reference(text):
    return pickle.UnpicklingError(f"load: the file's pickle cannot be read: {text}")


def reference_of(value, more=0):
    """Kind, name, location and number of elements of a reference to memory in a file."""
    if type(value) is not tuple or len(value) != 5 + more or value[0] != "storage":
        raise bad_reference(f"a {type(value).__name__} is no reference to memory")
    _, kind, name, location, count = value[:5]
    if type(kind) is types.dtype or kind is None:  # files with our own names
        kind = names.kind_of(kind)
    if isinstance(kind, rules.Nothing):
        names.refuse_absent(kind.name)
    if [type(each) for each in (kind, name, location, count)] != [
            names.StorageKind, str, str, int] or count < 0:
        raise bad_reference("a reference to memory has other things than the class of a storage, "
                            "two texts and a number of elements")
    return kind, name, location, count


class ArchiveMemory:
    """The memories of an archive, each read once, when the pickle comes to it."""

    def __init__(self, archive, place, mapped, skipped):
        self._archive, self._place, self._mapped, self._skipped = archive, place, mapped, skipped
        self._storages = {}

    def __call__(self, value):
        kind, name, location, count = reference_of(value)
        record = f"data/{name}"
        if record not in self._archive:
            raise bad_reference(f"the archive has no record {record!r}")
        size = self._archive.place(record)[1]
        if not 0 <= size - count * kind.itemsize < kind.itemsize:
            raise bad_reference(f"the record {record} has {size} bytes, and the file says "
                                f"{count * kind.itemsize}")
        if name not in self._storages:
            self._storages[name] = self._place(self._read(record, size), location)
        return kind.over(self._storages[name])

    def _read(self, record, size):
        if self._mapped is not None and size and not self._skipped:
            return self._mapped(*self._archive.place(record))
        storage = UntypedStorage(size)
        if size and not self._skipped:
            self._archive.read_into(record, memoryview(storage._bytes))
        return storage


class Mapped:
    """Memory of the file itself: read when it is used, and never before."""

    def __init__(self, path, flags):
        shared = flags == _MAP_SHARED
        with open(path, "r+b" if shared else "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0,
                                  access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)

    def __call__(self, position, size):
        data = memoryview(self._map)[position:position + size]
        if position % 8:  # no place for numbers of 8 bytes
            storage = UntypedStorage(size)
            memoryview(storage._bytes)[:] = data
            return storage
        return storage_of(_C._share_array(data, "load"))


def check_format(archive, default_order):
    """Refuses archives of other machines, and those of later versions."""
    order = archive.read("byteorder").strip() if "byteorder" in archive else default_order
    if order not in (b"little", b"big"):
        raise ValueError(f"load: the file's order of bytes is {order[:20]!r}; expected little or "
                         "big")
    if order != sys.byteorder.encode():
        raise ValueError(f"load: the file was written with {order.decode()}-endian numbers, and "
                         f"this machine is {sys.byteorder}-endian; load it on such a machine, or "
                         "let PyTorch save it anew")
    for name in ("version", ".data/version"):
        if name in archive:
            text = archive.read(name)[:20].strip()
            if not text.isdigit() or not 1 <= int(text) <= _LATEST_VERSION:
                raise RuntimeError(f"load: the archive has version {text!r}; expected 1 to "
                                   f"{_LATEST_VERSION}")


def trusting_unpickler(pickle_module, file, memory, options):
    """Builds whatever a pickle says; names of PyTorch mean classes of this library."""
    class Unpickler(pickle_module.Unpickler):
        def find_class(self, module, name):
            full = names.modern(module, name)
            if full in names.KNOWN and full.startswith(("torch.", "foregrad.")):
                return names.KNOWN[full]
            if not full.startswith("torch."):
                return super().find_class(module, name)
            names.refuse_absent(full)
            found = names.ours(full)
            if found is None:
                raise pickle.UnpicklingError(f"load: the file names {full}, which does not exist "
                                             "here; save a state_dict() instead")
            return found

        def persistent_load(self, reference):
            return memory(reference)

    return Unpickler(file, **options)


def unpickled(data, memory, settings):
    """The object of a pickle, by our own machine unless the file is trusted."""
    if not settings.weights_only:
        return trusting_unpickler(settings.pickle_module or pickle, io.BytesIO(data), memory,
                                  settings.options).load()
    return Machine(data, rules.Careful(len(data), memory), **settings.options).run()


def read_archive(source, settings):
    """The object of an archive."""
    archive = Archive(source)
    check_format(archive, settings.default_order)
    mapped = Mapped(source.path, settings.mmap_flags) if settings.mmap else None
    memory = ArchiveMemory(archive, settings.place, mapped, settings.skip_data)
    return unpickled(archive.read("data.pkl"), memory, settings)

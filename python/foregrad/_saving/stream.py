"""Streams of PyTorch before 1.6: five pickles, then the memories one after the other.

The pickles are a magic number, a version, the machine, the object, and the names of the memories.
Each memory begins with its number of elements.
"""

from __future__ import annotations

import mmap
import pickle
import sys

from foregrad._saving import rules
from foregrad._saving.machine import Machine
from foregrad._saving.pickler import pickled
from foregrad._saving.reading import reference_of, unpickled
from foregrad.storage import UntypedStorage

MAGIC, _VERSION = 0x1950A86A20F9469CFC6C, 1001
_SIZES = {"short": 2, "int": 4, "long": 4}


def is_stream(start):
    """Whether a file begins with the magic number."""
    return MAGIC.to_bytes(10, "little") in start[:40]


# ---- writing

def write_stream(write, obj, pickle_module, protocol):
    """Writes an object as PyTorch 1.5 does."""
    data, storages = pickled(obj, pickle_module, protocol, more=(None,))
    kinds = {str(number): storage for number, storage in enumerate(storages)}
    machine = {"protocol_version": _VERSION, "little_endian": sys.byteorder == "little",
               "type_sizes": _SIZES}
    for each in (MAGIC, _VERSION, machine):
        write(pickle.dumps(each, protocol))
    write(data)
    write(pickle.dumps([*kinds], protocol))
    found, _ = references_of(data)
    for name, storage in kinds.items():
        write(found[name][1].to_bytes(8, "little"))
        write(memoryview(storage._bytes))


def references_of(data, start=0):
    """Kind and number of elements of each memory that a pickle first names, and its end."""
    listing = rules.Listing()
    machine = Machine(data, listing, start)
    machine.run()
    found = {}
    for value in listing.references:
        if type(value) is tuple and len(value) == 4 and value[0] == "module":
            continue
        if type(value) is tuple and len(value) == 6 and value[5] is not None:
            raise pickle.UnpicklingError("load: the file has views of memory as PyTorch before 0.4 "
                                         "wrote them; load and save it with a newer PyTorch")
        kind, name, _, count = reference_of(value, more=1)
        found.setdefault(name, (kind, count))
    return found, machine.position


# ---- reading

class _Memories:
    """The memories behind the pickles, whose places and sizes were checked before."""

    def __init__(self, source, places, place, skipped):
        self._source, self._places, self._place = source, places, place
        self._skipped, self._storages = skipped, {}

    def __call__(self, value):
        if type(value) is tuple and len(value) == 4 and value[0] == "module":
            return value[1]  # a class; its source follows, which is not needed
        kind, name, location, _ = reference_of(value, more=1)
        if name not in self._storages:
            position, size = self._places[name]
            storage = UntypedStorage(size)
            if size and not self._skipped:
                self._source.read_into(position, memoryview(storage._bytes))
            self._storages[name] = self._place(storage, location)
        return kind.over(self._storages[name])


def _bytes_of(source):
    """All bytes of a file, which are not read before they are looked at."""
    if source.path is None:
        return source.read(0, source.size)
    return mmap.mmap(source.file.fileno(), 0, access=mmap.ACCESS_READ)


def object_pickle(source):
    """The pickle of the object in a stream."""
    data, position = _bytes_of(source), 0
    for _ in range(3):
        machine = Machine(data, rules.Careful(256, None), position)
        machine.run()
        position = machine.position
    return data[position:references_of(data, position)[1]]


def read_stream(source, settings):
    """The object of a stream; the file is then read to behind it."""
    data = _bytes_of(source)
    head, position = [], 0
    for _ in range(3):
        machine = Machine(data, rules.Careful(256, None), position)
        head.append(machine.run())
        position = machine.position
    _check_head(*head)
    found, end = references_of(data, position)
    machine = Machine(data, rules.Careful(0, None), end)
    places, behind = _places(source, machine.run(), machine.position, found)
    memory = _Memories(source, places, settings.place, settings.skip_data)
    result = unpickled(data[position:end], memory, settings)
    source.file.seek(source.start + behind)
    return result


def _check_head(magic, version, machine):
    if magic != MAGIC or version != _VERSION or type(machine) is not dict:
        raise RuntimeError(f"load: the stream begins with {magic!r}, {version!r}; expected the "
                           f"magic number and version {_VERSION} of torch.save")
    if machine.get("little_endian") is not (sys.byteorder == "little"):
        raise ValueError("load: the file was written on a machine with another order of bytes than "
                         f"{sys.byteorder}-endian; let PyTorch save it anew")


def _places(source, keys, position, found):
    """Position and size of each memory, and the end of the last."""
    if type(keys) is not list or any(type(key) is not str for key in keys) or \
            len(set(keys)) != len(keys) or not set(found) <= set(keys):
        raise RuntimeError("load: the stream does not list the memories that its pickle names; the "
                           "file is damaged, take another copy")
    places = {}
    for key in keys:
        if key not in found:
            raise RuntimeError(f"load: the stream has the memory {key!r}, which its pickle does "
                               "not name; the file is damaged, take another copy")
        kind, count = found[key]
        stated = int.from_bytes(source.read(position, 8), "little", signed=True)
        size = count * kind.itemsize
        if stated != count or position + 8 + size > source.size:
            raise RuntimeError(f"load: the memory {key!r} of the stream has {stated} elements and "
                               f"the pickle says {count}, or the file is cut off")
        places[key] = position + 8, size
        position += 8 + size
    return places, position

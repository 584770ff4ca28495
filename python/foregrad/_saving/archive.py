"""Archives of records by name: zip files as PyTorch writes them.

Records are stored as they are, each from a multiple of 64 bytes on, so that a file can be mapped
into memory. Reading believes nothing: names, sizes, places and checksums are compared first.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import NamedTuple

_ALIGNMENT, _BLOCK = 64, 1 << 20
_LARGE, _MANY = 0xFFFFFFFF, 0xFFFF  # from here on numbers stand in fields of 64 bits
_ELSEWHERE, _COUNT_ELSEWHERE = 0xFFFFFFFF, 0xFFFF
_DAY = 0x21  # the first of January 1980, which says nothing
_UTF8 = 0x800
_LOCAL, _CENTRAL = struct.Struct("<4sHHHHHIIIHH"), struct.Struct("<4sHHHHHHIIIHHHHHII")
_END64, _LOCATOR, _END = (struct.Struct("<4sQHHIIQQQQ"), struct.Struct("<4sIQI"),
                          struct.Struct("<4sHHHHIIH"))


class ArchiveWriter:
    """Writes records through a function, from the first byte to the last, without going back."""

    def __init__(self, write, folder, with_checksums=True):
        self._write, self._folder, self._with_checksums = write, folder, with_checksums
        self._position, self._records, self._total = 0, [], 0

    def _put(self, data):
        self._write(data)
        self._position += len(data)

    def add(self, name, data):
        """Writes a record."""
        view = memoryview(data).cast("B")
        self._add_header(name, len(view), zlib.crc32(view) if self._with_checksums else 0)
        self._put(view)

    def reserve(self, name, size):
        """Writes a record of zeros without a checksum: the room of data that comes later."""
        self._add_header(name, size, 0)
        for start in range(0, size, _BLOCK):
            self._put(bytes(min(_BLOCK, size - start)))

    def _add_header(self, name, length, checksum):
        name = f"{self._folder}/{name}".encode()
        large = length >= _LARGE
        extra = struct.pack("<HHQQ", 1, 16, length, length) if large else b""
        padding = -(self._position + _LOCAL.size + len(name) + len(extra) + 4) % _ALIGNMENT
        extra += struct.pack("<2sH", b"FB", padding) + b"Z" * padding
        self._records.append((name, length, checksum, self._position))
        self._total = zlib.crc32(checksum.to_bytes(4, "little"), self._total)
        size = _ELSEWHERE if large else length
        self._put(_LOCAL.pack(b"PK\3\4", 45 if large else 20, _UTF8, 0, 0, _DAY, checksum, size,
                              size, len(name), len(extra)) + name + extra)

    def identity(self):
        """Digits that differ for other records, as PyTorch's archives have them."""
        names = zlib.crc32(b"\0".join(name for name, *_ in self._records))
        return f"{names:020d}{self._total:020d}".encode()

    def close(self):
        """Writes the directory."""
        start = self._position
        for name, size, checksum, position in self._records:
            numbers = [size, size] if size >= _LARGE else []
            numbers += [position] if position >= _LARGE else []
            extra = struct.pack(f"<HH{len(numbers)}Q", 1, 8 * len(numbers),
                                *numbers) if numbers else b""
            size, position = _narrow(size), _narrow(position)
            version = 45 if numbers else 20
            self._put(_CENTRAL.pack(b"PK\1\2", version, version, _UTF8, 0, 0, _DAY, checksum, size,
                                    size, len(name), len(extra), 0, 0, 0, 0, position)
                      + name + extra)
        count, length, end = len(self._records), self._position - start, self._position
        if count >= _MANY or start >= _LARGE or length >= _LARGE:
            self._put(_END64.pack(b"PK\6\6", 44, 45, 45, 0, 0, count, count, length, start))
            self._put(_LOCATOR.pack(b"PK\6\7", 0, end, 1))
        narrow = count if count < _MANY else _COUNT_ELSEWHERE
        self._put(_END.pack(b"PK\5\6", 0, 0, narrow, narrow, _narrow(length), _narrow(start), 0))


def _narrow(number):
    """A number in a field of 32 bits."""
    return _ELSEWHERE if number >= _LARGE else number


class _Entry(NamedTuple):
    """A record: its bytes are those from `position` on."""

    name: str
    header: int
    position: int
    size: int
    checksum: int


class Archive:
    """Records of a file, by their names without the folder that all of them lie in."""

    def __init__(self, source):
        self._source = source
        entries = _directory(source)
        tops = [name.partition("/")[0] for name in entries if name.endswith("/data.pkl")
                and name.count("/") == 1]
        if len(tops) != 1:
            _refuse_others(entries)
        self._records = {name.partition("/")[2]: entry for name, entry in entries.items()
                         if name.startswith(f"{tops[0]}/")}

    def __contains__(self, name):
        return name in self._records

    def names(self):
        return self._records.keys()

    def place(self, name):
        """Position and size of a record in the file."""
        entry = self._records[name]
        return entry.position, entry.size

    def read(self, name):
        """The bytes of a record."""
        entry = self._records[name]
        data = self._source.read(entry.position, entry.size)
        _check(entry, data)
        return data

    def read_into(self, name, view):
        """Fills a view of memory with a record of that size."""
        entry = self._records[name]
        self._source.read_into(entry.position, view)
        _check(entry, view)


def _check(entry, data):
    # No checksum is stated by 0: of data that was left out, or written without them.
    if len(data) != entry.size or entry.checksum not in (0, zlib.crc32(data)):
        raise RuntimeError(f"load: the record {entry.name} is not the one that was written: its "
                           "checksum differs; the file is damaged, take another copy")


class _Part:
    """The file from `start` on, as zipfile reads it."""

    def __init__(self, source):
        self._source, self._position = source, 0

    def seekable(self):
        return True

    def seek(self, offset, whence=0):
        self._position = offset + {0: 0, 1: self._position, 2: self._source.size}[whence]
        if self._position < 0:
            raise OSError("a negative position")
        return self._position

    def tell(self):
        return self._position

    def read(self, count=-1):
        count = self._source.size - self._position if count is None or count < 0 else count
        data = self._source.read(self._position, count)
        self._position += len(data)
        return data


def _directory(source):
    """All entries by name, after everything that they claim was checked."""
    try:
        with zipfile.ZipFile(_Part(source)) as file:
            infos, end = file.infolist(), file.start_dir
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, OSError,
            OverflowError, EOFError, IndexError) as error:
        raise RuntimeError(f"load: the archive has no readable directory ({error}); the file is "
                           "cut off or damaged, take another copy") from None
    entries, reached = {}, 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        entry = _entry(source, info)
        if entry.name in entries:
            raise RuntimeError(f"load: the archive has two records {entry.name!r}; expected one of "
                               "each name")
        if entry.header < reached or entry.position + entry.size > end:
            raise RuntimeError(f"load: the record {entry.name!r} of the archive lies where another "
                               "one or the directory is, or behind the end")
        reached = entry.position + entry.size
        entries[entry.name] = entry
    return entries


def _entry(source, info):
    name = info.filename
    if name != info.orig_filename or any(
            part in ("", ".", "..") for part in name.rstrip("/").replace("\\", "/").split("/")):
        raise RuntimeError(f"load: the archive has a record of the name {info.orig_filename!r}; "
                           "expected a plain name below one folder")
    if info.flag_bits & 1 or info.compress_type != zipfile.ZIP_STORED or \
            info.compress_size != info.file_size:
        raise RuntimeError(f"load: the record {name!r} of the archive is compressed or encrypted; "
                           "expected one that is stored as it is: unpack the file, and pack it "
                           "again with zip -0")
    return _Entry(name, info.header_offset, _data_position(source, info), info.file_size, info.CRC)


def _data_position(source, info):
    """The first byte of a record, which only the header in front of it tells."""
    header = source.read(info.header_offset, _LOCAL.size) if info.header_offset >= 0 else b""
    if len(header) < _LOCAL.size or header[:4] != b"PK\3\4":
        raise RuntimeError(f"load: the record {info.filename!r} of the archive has no header; the "
                           "file is damaged, take another copy")
    fields = _LOCAL.unpack(header)
    position = info.header_offset + _LOCAL.size
    name = source.read(position, fields[-2])
    if name != info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8 else "cp437"):
        raise RuntimeError(f"load: the record {info.filename!r} of the archive has another name in "
                           "its own header")
    return position + fields[-2] + fields[-1]


def _refuse_others(entries):
    if any(name.endswith("/constants.pkl") or name.endswith("/code/") for name in entries):
        raise RuntimeError("load: the file is a program of torch.jit.save (TorchScript), which "
                           "does not exist here; save the state_dict() of the model with PyTorch")
    raise RuntimeError("load: the archive has no record data.pkl below one folder; it is not one "
                       "of torch.save or foregrad.save")

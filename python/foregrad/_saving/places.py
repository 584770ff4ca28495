"""Places that files are written to and read from: paths, and objects like files.

A path is written in full or not at all: beside its place, brought to the disk, and renamed. A link
stays, and its target is replaced; a pipe or a device is written to as it is.
"""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import os
import stat

_count = itertools.count()
_LONGEST_NAME = 200  # of 255, so that there is room for what makes it unique


def is_path(f):
    return isinstance(f, (str, bytes, os.PathLike))


@contextlib.contextmanager
def writing(f):
    """The function that writes bytes to a place."""
    if not is_path(f):
        if not hasattr(f, "write"):
            raise AttributeError(f"save: f is a {type(f).__name__}; expected a path, or an object "
                                 "with the method write")
        yield f.write
        if hasattr(f, "flush"):
            f.flush()
        return
    path = os.fspath(f)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with _special(path) as file:
            yield file.write
    else:
        with _beside(os.path.realpath(path), mode) as file:
            yield file.write


@contextlib.contextmanager
def _beside(path, mode):
    """A file that takes the name of the path when all was written."""
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        raise RuntimeError(f"save: the folder {os.fsdecode(folder)!r} does not exist; make it "
                           "first")
    mark = f".{os.getpid()}-{next(_count)}.tmp"
    short = name[:_LONGEST_NAME // 4]
    other = os.path.join(folder, short + (mark.encode() if isinstance(name, bytes) else mark))
    file = open(other, "xb")
    try:
        with file:
            yield file
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            os.fsync(file.fileno())
        os.replace(other, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(other)
        raise
    _sync(folder)


def _special(path):
    """A pipe or a device; a pipe without a reader is refused, not waited for."""
    import fcntl

    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise  # a folder, for instance
        raise RuntimeError(f"save: {os.fsdecode(path)!r} cannot be opened for writing: no program "
                           "reads from it") from None
    fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_WRONLY)
    return open(descriptor, "wb")


def _sync(folder):
    """Brings the new name to the disk; some file systems have no folders to sync."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class Source:
    """A file that is read from `start` on, at any position.

    An object that cannot seek is read as a whole.
    """

    def __init__(self, f):
        self.path = os.fspath(f) if is_path(f) else None
        self._own = self.path is not None
        if self._own:
            if not stat.S_ISREG(os.stat(self.path).st_mode):
                raise ValueError(f"load: {os.fsdecode(self.path)!r} is no regular file; read what "
                                 "it has into an io.BytesIO first")
            self.file = open(self.path, "rb")
        elif not hasattr(f, "read"):
            raise AttributeError(f"load: f is a {type(f).__name__}; expected a path, or an object "
                                 "with the method read")
        else:
            self.file = f if _can_seek(f) else _in_memory(f)
        self.start = self.file.tell()
        self.file.seek(0, os.SEEK_END)
        self.size = self.file.tell() - self.start
        self.file.seek(self.start)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self._own:
            self.file.close()

    def read(self, position, count):
        """Some bytes; fewer at the end."""
        self.file.seek(self.start + position)
        data = self.file.read(max(0, min(count, self.size - position)))
        if not isinstance(data, bytes):
            raise TypeError(f"load: reading gives a {type(data).__name__}; expected bytes: open "
                            "the file with 'rb'")
        return data

    def read_into(self, position, view):
        """Fills a view of memory."""
        self.file.seek(self.start + position)
        done = 0
        while done < len(view):
            if hasattr(self.file, "readinto"):
                count = self.file.readinto(view[done:])
            else:
                data = self.file.read(min(len(view) - done, 1 << 24))
                count = len(data)
                view[done:done + count] = data
            if not count:
                raise EOFError(f"load: the file ends {len(view) - done} bytes too early; it is cut "
                               "off")
            done += count


def _can_seek(f):
    if not hasattr(f, "seek") or not hasattr(f, "tell"):
        return False
    return f.seekable() if hasattr(f, "seekable") else True


def _in_memory(f):
    data = f.read()
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"load: reading gives a {type(data).__name__}; expected bytes: open the "
                        "file with 'rb'")
    return io.BytesIO(data)

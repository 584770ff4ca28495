"""Batches on their way from a worker to the loader: the side of the loader.

A segment of shared memory is mapped once. Every batch in it holds a lease: when the last tensor of
the batch is gone, the number of the segment goes back to the worker with the next task. A program
that keeps many batches would keep many segments; from some number on, batches are copied out.
"""

import contextlib
import errno
import mmap
import os
import pickle

from foregrad import _C
from foregrad._types import uint8
from foregrad.utils.data._channel import drop

__all__ = []

_MOST_LEASES = 16  # per worker; a program mostly holds one batch or two


class _Forks:
    """Counts the forks of this process: a child has the batches of its parent, in shared memory."""

    count = 0

    @classmethod
    def add(cls):
        cls.count += 1


os.register_at_fork(before=_Forks.add)


class _Lease:
    """The right of one batch to a segment, held by its tensors.

    A segment that a child of this process may be reading is not used again.
    """

    def __init__(self, memory, number, receiver):
        self.memory, self._number, self._forks = memory, number, _Forks.count
        self._leased, self._returned = receiver.leased, receiver.returned
        self._retired = receiver.retired

    def __del__(self):
        self._leased.discard(self._number)
        is_alone = self._forks == _Forks.count
        (self._returned if is_alone else self._retired).append(self._number)


class Receiver:
    """The segments of one worker as the loader has them."""

    def __init__(self):
        self._segments = {}
        self.leased, self.returned, self.retired = set(), [], []

    def take_returned(self):
        """The numbers of segments that the worker may use again, and of those to let go."""
        returned, retired = _taken(self.returned), _taken(self.retired)
        for number in retired:
            self._segments.pop(number, None)
        return returned, retired

    def accept(self, message, descriptors):
        """Maps new segments of a message; returns it with its head read."""
        try:
            end = 4 + int.from_bytes(message[:4], "little")
            blocks, places, forgotten = pickle.loads(message[4:end])
            for number in forgotten:
                self._segments.pop(number, None)
            shared = [block for block in blocks if not isinstance(block, int)]
            self._map([block for block in shared if block[3]], descriptors)
        finally:
            drop(descriptors)
        if all(block[0] in self._segments for block in shared):
            return message, end, blocks, places
        for number, *_ in shared:
            (self.returned if number in self._segments else self.retired).append(number)
        raise OSError(errno.EMFILE, "the shared memory of a batch did not arrive: this process has "
                      "too many open files or mappings; close some, or raise `ulimit -n`")

    def _map(self, blocks, descriptors):
        """Maps new segments, as far as their descriptors came and there is room."""
        for (number, _, size, _), descriptor in zip(blocks, descriptors):
            with contextlib.suppress(OSError):
                self._segments[number] = mmap.mmap(
                    descriptor, size, flags=mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))

    def discard(self, accepted):
        """Gives the segments of a batch back that the program did not take."""
        self.returned += [block[0] for block in accepted[2] if not isinstance(block, int)]

    def _place(self, block):
        """The memory of a segment and the object that keeps it."""
        number, used, _, _ = block
        memory = self._segments[number]
        if len(self.leased) >= _MOST_LEASES:
            with memoryview(memory) as whole, whole[:used] as part:
                copy = bytearray(part)
            self.returned.append(number)
            return copy, copy
        self.leased.add(number)
        return memory, _Lease(memory, number, self)

    def unpack(self, accepted):
        """The batch of an accepted message."""
        message, at, blocks, places = accepted
        held = []
        for block in blocks:
            if isinstance(block, int):
                memory = bytearray(memoryview(message)[at:at + block])
                held.append((memory, memory))
                at += block
            else:
                held.append(self._place(block))
        buffers = [held[place] if isinstance(place, int) else _bytes_at(held, place)
                   for place in places]
        return pickle.loads(memoryview(message)[at:], buffers=buffers)


def _taken(numbers):
    """Empties a list to which other threads may append, and returns what was in it."""
    found = numbers[:len(numbers)]
    del numbers[:len(found)]
    return found


def _bytes_at(held, place):
    """The memory of an array of another library."""
    number, begin, count = place
    memory, keep = held[number]
    return _C._tensor_in(memory, begin, uint8, (count,), (1,), keep)

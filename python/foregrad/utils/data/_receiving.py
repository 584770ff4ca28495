"""Batches on their way from a worker to the loader: the side of the loader.

A segment of shared memory is mapped once. Every batch in it holds a lease: when the last tensor of
the batch is gone, the number of the segment goes back to the worker with the next task. A program
that keeps many batches would keep many segments; from some number on, batches are copied out.
"""

import mmap
import pickle

from foregrad import _C
from foregrad._types import uint8
from foregrad.utils.data._channel import drop

__all__ = []

_MOST_LEASES = 16  # per worker; a program mostly holds one batch or two


class _Lease:
    """The right of one batch to a segment, held by its tensors."""

    def __init__(self, memory, number, receiver):
        self.memory, self._number = memory, number
        self._leased, self._returned = receiver.leased, receiver.returned

    def __del__(self):
        self._leased.discard(self._number)
        self._returned.append(self._number)


class Receiver:
    """The segments of one worker as the loader has them."""

    def __init__(self):
        self._segments = {}
        self.leased, self.returned = set(), []

    def take_returned(self):
        """The numbers of segments that the worker may use again."""
        count = len(self.returned)  # other threads may append
        numbers = self.returned[:count]
        del self.returned[:count]
        return numbers

    def accept(self, message, descriptors):
        """Maps new segments of a message; returns it with its head read."""
        try:
            end = 4 + int.from_bytes(message[:4], "little")
            blocks, places, forgotten = pickle.loads(message[4:end])
            for number in forgotten:
                self._segments.pop(number, None)
            waiting = iter(descriptors)
            for block in blocks:
                if not isinstance(block, int) and block[3]:
                    self._segments[block[0]] = mmap.mmap(
                        next(waiting), block[2],
                        flags=mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))
        finally:
            drop(descriptors)
        return message, end, blocks, places

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


def _bytes_at(held, place):
    """The memory of an array of another library."""
    number, begin, count = place
    memory, keep = held[number]
    return _C._tensor_in(memory, begin, uint8, (count,), (1,), keep)

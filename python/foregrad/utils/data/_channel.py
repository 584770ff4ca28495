"""Messages between the process of a DataLoader and one of its workers, over a pair of sockets.

A socket keeps packets apart, carries descriptors of shared memory, and tells each side at once when
the other one is gone, however it ended: no lock is shared, so none is left taken by a dead process.
A long message is several packets. The loader never waits while it sends; a worker does.
"""

import array
import collections
import os
import socket
import weakref

__all__ = []

_PACKET = 60_000  # bytes at most: well below the smallest buffer that a socket may have
_MOST_DESCRIPTORS = 64
_ROOM = socket.CMSG_LEN(_MOST_DESCRIPTORS * array.array("i").itemsize)
_LAST, _MORE = b"\0", b"\1"

# The loaders' ends. A forked child closes them, or workers would not see that the loader is gone.
_ends = weakref.WeakSet()


def make_pair():
    """The loader's end and the worker's."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    _ends.add(ours)
    return ours, theirs


def _close_ends():
    for end in list(_ends):
        end.close()


os.register_at_fork(after_in_child=_close_ends)


def drop(descriptors):
    """Closes descriptors of a message that is not read."""
    for descriptor in descriptors:
        os.close(descriptor)


def _packets(parts):
    """The parts of a message as lists of buffers, each for one packet."""
    size = sum(map(len, parts))
    if size < _PACKET:
        return [[_LAST, *parts]]
    whole = memoryview(b"".join(parts))
    ends = range(0, size, _PACKET)
    return [[_LAST if begin + _PACKET >= size else _MORE, whole[begin:begin + _PACKET]]
            for begin in ends]


class Channel:
    """One end of the pair."""

    def __init__(self, end, waits):
        self.socket, self._waits = end, waits
        self._buffer = bytearray(_PACKET + 64)
        self._begun = bytearray()  # the packets of a message whose last is not here yet
        self._descriptors = []
        self._unsent = collections.deque()

    def send(self, parts, descriptors=()):
        """Sends a message, or keeps what does not fit now; OSError when the other side is gone."""
        for packet in _packets(parts):
            self._unsent.append((packet, descriptors))
            descriptors = ()
        self.flush()

    def is_behind(self):
        """Whether there are messages that did not fit."""
        return bool(self._unsent)

    def flush(self):
        """Goes on with messages that did not fit."""
        while self._unsent:
            packet, descriptors = self._unsent[0]
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
            try:
                self.socket.sendmsg(packet, rights if descriptors else (),
                                    0 if self._waits else socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            self._unsent.popleft()

    def receive(self, waits):
        """A message and its descriptors, or None; EOFError when the other side is gone."""
        while True:
            try:
                count, rights, _, _ = self.socket.recvmsg_into(
                    [self._buffer], _ROOM, socket.MSG_CMSG_CLOEXEC |
                    (0 if waits else socket.MSG_DONTWAIT))
            except BlockingIOError:
                return None
            except ConnectionResetError:  # said once; the packets from before come after it
                continue
            if count == 0:
                raise EOFError
            for _, _, data in rights:
                self._descriptors += array.array("i", data)
            if self._begun or self._buffer[0] == _MORE[0]:
                self._begun += memoryview(self._buffer)[1:count]
                if self._buffer[0] == _MORE[0]:
                    continue
                message, self._begun = bytes(self._begun), bytearray()
            else:
                message = bytes(memoryview(self._buffer)[1:count])
            descriptors, self._descriptors = self._descriptors, []
            return message, descriptors

    def close(self):
        drop(self._descriptors)
        self._descriptors = []
        self.socket.close()

"""The worker processes of a DataLoader: started, fed, watched and ended.

Each has a channel of its own. A worker that ends in any way is seen as the end of its channel, and
named. Workers end with the pool, with the interpreter, and by themselves when the loader's process
is gone. A child of the loader's process that has a copy of the pool leaves the workers alone.
"""

import atexit
import contextlib
import multiprocessing.reduction  # noqa: F401: how sockets travel to a spawned process
import os
import pickle
import select
import signal
import threading
import time
import weakref

from foregrad.utils.data import _utils
from foregrad.utils.data._caught import CaughtError
from foregrad.utils.data._channel import Channel, drop, make_pair
from foregrad.utils.data._receiving import Receiver
from foregrad.utils.data._utils.worker import DATA, ERROR, HEADER, STOP, TASK, run_worker

__all__ = []

_starting = threading.Lock()  # a fork of another loader would keep the worker's end open
os.register_at_fork(after_in_child=_starting._at_fork_reinit)
_pools = weakref.WeakSet()


@contextlib.contextmanager
def _interrupts_later():
    """Holds Ctrl-C back until a worker can handle it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Member:
    """A worker as the loader sees it."""

    def __init__(self, number, setup, context):
        self.number, self.receiver = number, Receiver()
        with _starting, _interrupts_later():
            ours, theirs = make_pair()
            try:
                self.process = context.Process(target=run_worker, args=(number, setup, theirs),
                                               daemon=True)
                self.process.start()
            except BaseException:
                ours.close()
                raise
            finally:
                theirs.close()
        self.channel = Channel(ours, waits=False)
        self.descriptor = ours.fileno()
        self.alive = self.active = True  # active: its stream has not ended
        self.tasks = 0  # tasks without an answer

    def reason(self):
        """How the process ended, in words."""
        self.process.join(1)
        code = self.process.exitcode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"killed by signal {-code} ({signal.Signals(-code).name})"
        return f"exit code {code}"


class Pool:
    """All workers of an iterator."""

    def __init__(self, count, setup, context):
        self.members, self.closed, self._owner = [], False, os.getpid()
        self.is_late = False  # a worker did not answer in time: the end will not wait for it
        self._poll, self._by_descriptor = select.poll(), {}
        _pools.add(self)
        try:
            for number in range(count):
                member = _Member(number, setup, context)
                self.members.append(member)
                self._by_descriptor[member.descriptor] = member
                self._poll.register(member.descriptor, select.POLLIN)
        except BaseException:
            self.shut_down(0.5)
            raise

    # ---- messages

    def post(self, member, kind, epoch, task=-1, index=None):
        """Sends a task or an order; a worker that is gone is noticed when its answer is read."""
        parts = [HEADER.pack(kind, epoch, task)]
        if kind == TASK:
            parts.append(pickle.dumps((member.receiver.take_returned(), index), 5))
            member.tasks += 1
        with contextlib.suppress(OSError):
            member.channel.send(parts)

    def receive(self, first, seconds):
        """Messages (worker, kind, epoch, task, content) that are here, or come in that time.

        Those of the worker `first` alone if it has some. An empty list: the time is over. None as
        kind: the worker is gone.
        """
        found = self._read(first) if first is not None else []
        if found:
            return found
        behind = self._flush()
        for descriptor, _ in self._poll.poll(seconds * 1000):
            found += self._read(self._by_descriptor[descriptor])
        for member in behind:
            if member.alive:
                self._poll.modify(member.descriptor, select.POLLIN)
        return found or self._missing()

    def _flush(self):
        """Sends what did not fit before; workers that still have no room are watched for that."""
        behind = []
        for member in self.members:
            if member.alive and member.channel.is_behind():
                with contextlib.suppress(OSError):
                    member.channel.flush()
                    self._poll.modify(member.descriptor, select.POLLIN | select.POLLOUT)
                    behind.append(member)
        return behind

    def _missing(self):
        """Workers that are gone although their channel is open, in a child of theirs."""
        return [(member, None, 0, 0, None) for member in self.members
                if member.alive and not member.process.is_alive() and self._lost(member)]

    def _lost(self, member):
        if member.alive:
            member.alive = member.active = False
            self._poll.unregister(member.descriptor)
        return True

    def _read(self, member):
        found = []
        while member.alive:
            try:
                received = member.channel.receive(waits=False)
            except EOFError:
                self._lost(member)
                found.append((member, None, 0, 0, None))
                break
            if received is None:
                break
            message, descriptors = received
            if self.closed:
                drop(descriptors)
                continue
            kind, epoch, task = HEADER.unpack_from(message)
            content = message[HEADER.size:]
            try:
                if kind == DATA:
                    content = member.receiver.accept(content, descriptors)
            except OSError:
                kind = ERROR
                content = pickle.dumps(CaughtError(f"in DataLoader, receiving from worker process "
                                                   f"{member.number}"))
            member.tasks -= 1
            found.append((member, kind, epoch, task, content))
        return found

    # ---- the end

    def shut_down(self, grace=None):
        """Asks all workers to end, waits for them, and kills those that do not."""
        if self.closed or self._owner != os.getpid():
            return
        self.closed = True
        _pools.discard(self)
        if grace is None:
            grace = 0.1 if self.is_late else _utils.MP_STATUS_CHECK_INTERVAL
        try:
            for member in self.members:
                self.post(member, STOP, 0)
            self._wait_for_ends(time.monotonic() + grace)
        finally:
            for member in self.members:
                self._end(member)

    def _wait_for_ends(self, deadline):
        while any(member.alive for member in self.members):
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self.receive(None, left)  # a worker may wait for room for its last message

    def _end(self, member):
        process = member.process
        try:
            if member.alive:
                process.terminate()
            process.join(1)
            if process.is_alive():
                process.kill()
                process.join()
        finally:
            member.channel.close()


@atexit.register
def _shut_down_all():
    for pool in list(_pools):
        pool.shut_down()


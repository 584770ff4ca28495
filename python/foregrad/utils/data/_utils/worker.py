"""The work of a worker process: it takes tasks, makes batches and sends them."""

from __future__ import annotations

import collections
import importlib.machinery
import os
import pickle
import random
import select
import signal
import struct
import sys
import threading
from dataclasses import dataclass
from typing import Any

import foregrad
from foregrad.utils.data._caught import CaughtError
from foregrad.utils.data._channel import Channel
from foregrad.utils.data._transport import Sender

__all__ = ["WorkerInfo", "get_worker_info"]

# Kinds of messages: tasks and orders to a worker, results of a worker.
TASK, RESUME, STOP = 0, 1, 2
DATA, ERROR, END = 3, 4, 5
HEADER = struct.Struct("<BIq")  # kind, epoch, number of the task

_info = None


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """The place of a worker among all, its seed, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info() -> WorkerInfo | None:
    """The place of this worker among all; None in the main process."""
    return _info


@dataclass(frozen=True)
class Setup:
    """All that a worker needs to know, as it travels to a process that was spawned."""

    kind: int
    dataset: Any
    auto_collation: bool
    collate_fn: Any
    drop_last: bool
    base_seed: int
    init_fn: Any
    num_workers: int


# ---- seeds

class _SeedsNumpy:
    """Seeds numpy's random numbers as soon as the worker imports them."""

    def __init__(self, entropy):
        self._entropy = entropy

    def find_spec(self, name, path=None, target=None):
        if name != "numpy.random":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                _seed_numpy(module, self._entropy)

            spec.loader.exec_module = exec_module
        return spec


def _seed_numpy(module, entropy):
    module.seed(module.SeedSequence(entropy).generate_state(4))


def _seed_all(base_seed, worker_id):
    seed = base_seed + worker_id
    random.seed(seed)
    foregrad.manual_seed(seed)
    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    if "numpy.random" in sys.modules:
        _seed_numpy(sys.modules["numpy.random"], entropy)
    else:
        sys.meta_path.insert(0, _SeedsNumpy(entropy))
    return seed


# ---- the end of the loader's process, and signals

def _watch(end):
    """Ends this process when that of the loader is gone, also in the middle of a batch."""
    poll = select.poll()
    poll.register(end, 0)  # reports only that the other side hung up
    poll.poll()
    os._exit(1)


class _Interrupts:
    """Ctrl-C in a worker: it interrupts a batch that is being made, and nothing else.

    The loader's process gets it too, and ends the workers if it ends.
    """

    def __init__(self):
        self.making = False
        # A handler in place of SIG_IGN: programs that the dataset runs get the default back.
        signal.signal(signal.SIGINT, self._handle)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def _handle(self, number, frame):
        if self.making:
            self.making = False
            raise KeyboardInterrupt


# ---- the loop

class _Worker:
    def __init__(self, worker_id, setup, end):
        self._setup, self._interrupts = setup, _Interrupts()
        self._where = f"in DataLoader worker process {worker_id}"
        self._channel, self._sender = Channel(end, waits=True), Sender()
        self._tasks, self._epoch, self._stopped = collections.deque(), 0, False
        self._fetcher, self._failed = None, None
        try:
            if setup.init_fn is not None:
                setup.init_fn(worker_id)
        except Exception:
            self._failed = CaughtError(self._where)

    def run(self):
        while not self._stopped:
            self._read()
            if self._tasks and not self._stopped:
                self._work(*self._tasks.popleft())

    def _read(self):
        """Takes all messages that are here; waits for one if there is no task."""
        while not self._stopped:
            received = self._channel.receive(waits=not self._tasks)
            if received is None:
                return
            message, _ = received
            kind, epoch, task = HEADER.unpack_from(message)
            if kind == STOP:
                self._stopped = True
            elif kind == RESUME:  # tasks from before are of no use any more
                self._tasks.clear()
                self._epoch, self._fetcher = epoch, None
            else:
                self._tasks.append((task, memoryview(message)[HEADER.size:]))

    def _work(self, task, pickled):
        released, index = pickle.loads(pickled)
        self._sender.release(*released)
        kind, parts, descriptors = self._result(index)
        self._channel.send([HEADER.pack(kind, self._epoch, task), *parts], descriptors)
        if kind == DATA:
            self._sender.sent()

    def _result(self, index):
        """The kind and the parts of the message with a batch."""
        self._sender.begin()
        try:
            if self._failed is None:
                return DATA, *self._sender.pack(self._fetch(index))
            caught = self._failed
        except StopIteration as error:
            if self._setup.kind == ITERABLE and error.args == ():
                return END, [], []
            caught = CaughtError(self._where)
        except (Exception, KeyboardInterrupt):
            caught = CaughtError(self._where)
        return ERROR, [pickle.dumps(caught)], []

    def _fetch(self, index):
        try:
            self._interrupts.making = True
            if self._fetcher is None:
                self._fetcher = self._make_fetcher()
            return self._fetcher.fetch(index)
        finally:
            self._interrupts.making = False

    def _make_fetcher(self):
        setup = self._setup
        return make_fetcher(setup.kind, setup.dataset, setup.auto_collation,
                            lambda data: self._sender.collating(setup.collate_fn, data),
                            setup.drop_last)


MAP, ITERABLE = 0, 1  # kinds of datasets


def make_fetcher(kind, dataset, auto_collation, collate_fn, drop_last):
    """The maker of batches for a kind of dataset."""
    from foregrad.utils.data._utils import fetch

    cls = fetch._MapDatasetFetcher if kind == MAP else fetch._IterableDatasetFetcher
    return cls(dataset, auto_collation, collate_fn, drop_last)


def run_worker(worker_id, setup, end):
    """The main function of a worker process."""
    global _info
    threading.Thread(target=_watch, args=(end.fileno(),), daemon=True).start()
    foregrad.set_num_threads(1)
    seed = _seed_all(setup.base_seed, worker_id)
    _info = WorkerInfo(worker_id, setup.num_workers, seed, setup.dataset)
    try:
        _Worker(worker_id, setup, end).run()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the loader is gone

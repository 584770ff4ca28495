"""The iterators of a DataLoader: batches made in this process, or by workers."""

import multiprocessing
import pickle
import time
import warnings

from foregrad.utils.data import _utils
from foregrad.utils.data._pool import Pool
from foregrad.utils.data._utils.worker import (DATA, END, ERROR, ITERABLE, RESUME, TASK, Setup,
                                               make_fetcher)
from foregrad.utils.data.sampler import draw_seed

__all__ = []


class _BaseDataLoaderIter:
    """One pass over the data of a loader."""

    def __init__(self, loader):
        self._dataset, self._dataset_kind = loader.dataset, loader._dataset_kind
        self._auto_collation, self._drop_last = loader._auto_collation, loader.drop_last
        self._index_sampler, self._num_workers = loader._index_sampler, loader.num_workers
        self._timeout, self._collate_fn = loader.timeout, loader.collate_fn
        self._persistent_workers = loader.persistent_workers
        if loader.pin_memory:
            _warn_about_pinning(loader.pin_memory_device)
        self._base_seed = draw_seed(loader.generator)
        self._begin_pass(loader)

    def _begin_pass(self, loader):
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._promised = loader._IterableDataset_len_called

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._index_sampler)

    def _next_index(self):
        return next(self._sampler_iter)  # may raise StopIteration

    def __next__(self):
        data = self._next_data()
        self._num_yielded += 1
        if self._promised is not None and self._num_yielded > self._promised:
            self._warn_about_length()
        return data

    def _warn_about_length(self):
        text = (f"Length of IterableDataset {self._dataset} was reported to be {self._promised}"
                f"(when accessing len(dataloader)), but {self._num_yielded} samples have been "
                "fetched. ")
        if self._num_workers > 0:
            text += ("For multiprocessing data-loading, this could be caused by not properly "
                     "configuring the IterableDataset replica at each worker: each worker gives "
                     "all samples unless it asks get_worker_info() for its part.")
        warnings.warn(text, stacklevel=3)

    def __getstate__(self):
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")


def _warn_about_pinning(device):
    if device:
        warnings.warn("pin_memory_device is deprecated, the current accelerator will be used as "
                      f"the device,ignore pin_memory_device='{device}'.", stacklevel=4)
    warnings.warn("'pin_memory' argument is set as true but no accelerator is found, then device "
                  "pinned memory won't be used.", stacklevel=4)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Batches made when they are asked for."""

    def __init__(self, loader):
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError("DataLoader: a timeout needs workers: got "
                                 f"timeout={self._timeout} with num_workers=0")
        self._dataset_fetcher = make_fetcher(self._dataset_kind, self._dataset,
                                             self._auto_collation, self._collate_fn,
                                             self._drop_last)

    def _next_data(self):
        return self._dataset_fetcher.fetch(self._next_index())


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Batches made by workers, which are given tasks ahead.

    A task is a batch to make, with a number. Every task gets one answer: a batch, an error, or that
    the stream of a dataset has ended. Answers wait until it is their turn; with in_order=False
    those that come first are first.
    """

    _pool = None  # until the workers are started

    def __init__(self, loader):
        super().__init__(loader)
        self._prefetch_factor, self._in_order = loader.prefetch_factor, loader.in_order
        if not self._prefetch_factor > 0:
            raise AssertionError("DataLoader: prefetch_factor must be greater than 0 with workers, "
                                 f"got {self._prefetch_factor}")
        self._epoch = 0
        setup = Setup(self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn,
                      self._drop_last, self._base_seed, loader.worker_init_fn, self._num_workers)
        context = loader.multiprocessing_context or multiprocessing
        self._pool = Pool(self._num_workers, setup, context)
        self._begin_tasks()

    def _reset(self, loader):
        """Begins another pass with the same workers."""
        self._begin_pass(loader)
        for member, kind, content in self._answers.values():
            if kind == DATA:
                member.receiver.discard(content)
        self._epoch += 1
        for member in self._pool.members:
            member.active, member.tasks = True, 0
            self._pool.post(member, RESUME, self._epoch)
        self._begin_tasks()

    def _begin_tasks(self):
        self._given, self._taken = 0, 0  # tasks that were given, and answers that were taken
        self._owners, self._answers = {}, {}  # of tasks, by number
        self._turn = 0
        for _ in range(self._prefetch_factor * self._num_workers):
            self._give_task()

    # ---- tasks

    def _next_member(self):
        """The worker for the next task: in turn, or the one with the fewest; None without any."""
        members = self._pool.members
        turns = [members[(self._turn + i) % len(members)] for i in range(len(members))]
        active = [member for member in turns if member.active]
        if not active:
            return None
        member = active[0] if self._in_order else min(active, key=lambda each: each.tasks)
        self._turn = (member.number + 1) % len(members)
        return member

    def _give_task(self):
        if self._given - self._taken >= self._prefetch_factor * self._num_workers:
            return
        try:
            index = self._next_index()
        except StopIteration:
            return
        member = self._next_member()
        if member is None:
            return
        self._pool.post(member, TASK, self._epoch, self._given, index)
        self._owners[self._given] = member
        self._given += 1

    # ---- answers

    def _file(self, found):
        """Puts answers where their turn finds them; returns workers that are gone."""
        gone = []
        for member, kind, epoch, task, content in found:
            if kind is None:
                gone.append(member)
            elif epoch == self._epoch:
                self._answers[task] = member, kind, content
                if kind == END:
                    member.active = False
            elif kind == DATA:  # of a pass that the program left early
                member.receiver.discard(content)
        return gone

    def _ready(self):
        """The number of the task whose answer is next; None if that is not here yet."""
        if self._in_order:
            return self._taken if self._taken in self._answers else None
        return next(iter(self._answers), None)

    def _wait(self):
        """Waits for the answer that is next and returns the number of its task."""
        deadline = time.monotonic() + self._timeout if self._timeout else float("inf")
        while (ready := self._ready()) is None:
            gone = [member for member in self._pool.members if not member.alive]
            if not gone:
                left = deadline - time.monotonic()
                if left <= 0:
                    self._fail_late()
                first = self._owners[self._taken] if self._in_order else None
                seconds = min(left, _utils.MP_STATUS_CHECK_INTERVAL)
                gone = self._file(self._pool.receive(first, seconds))
            if gone and self._ready() is None:
                self._fail_lost(gone)
        return ready

    def _fail_lost(self, gone):
        pids = ", ".join(str(member.process.pid) for member in gone)
        reasons = ", ".join(f"worker {member.number}: {member.reason()}" for member in gone)
        self._shut_down()
        raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly ({reasons})")

    def _fail_late(self):
        late = [self._owners[self._taken]] if self._in_order else self._pool.members
        names = ", ".join(f"worker {each.number} (pid {each.process.pid})"
                          for each in late if each.tasks)
        self._pool.is_late = True
        raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds, waiting for "
                           f"{names}")

    def _next_data(self):
        while True:
            if self._pool.closed or self._given == self._taken:
                if not self._persistent_workers:
                    self._shut_down()
                raise StopIteration
            task = self._wait()
            member, kind, content = self._answers.pop(task)
            del self._owners[task]
            self._taken += 1
            self._pool.is_late = False
            self._give_task()
            if kind == ERROR:
                pickle.loads(content).reraise()
            if kind == DATA:
                return member.receiver.unpack(content)

    # ---- the end

    def _shut_down(self):
        if self._pool is not None:
            self._pool.shut_down()

    def __del__(self):
        self._shut_down()

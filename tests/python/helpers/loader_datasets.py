"""Datasets of the tests of DataLoader, in a module that spawned workers can import."""

import os
import random
import signal
import time

import foregrad as fg
from foregrad.utils import data


class Numbers(data.Dataset):
    """Sample i is i."""

    def __init__(self, count=10):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return index


class Rows(Numbers):
    """Sample i is a vector of i, and i."""

    def __init__(self, count=10, width=3):
        super().__init__(count)
        self.width = width

    def __getitem__(self, index):
        return fg.full((self.width,), float(index)), index


class Seeds(Numbers):
    """Sample i says how the worker that makes it was seeded."""

    def __getitem__(self, index):
        info = data.get_worker_info()
        return {"id": info.id, "count": info.num_workers, "seed": info.seed,
                "initial": fg.initial_seed(), "random": random.getrandbits(60),
                "tensor": fg.randint(2 ** 40, ()).item(), "threads": fg.get_num_threads(),
                "numpy": self.of_numpy()}

    def of_numpy(self):
        import numpy
        return [int(word) for word in numpy.random.get_state()[1][:4]]


class Processes(Numbers):
    """Sample i is the process that makes it, which first sleeps."""

    def __init__(self, count=10, seconds=0.0):
        super().__init__(count)
        self.seconds = seconds

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return os.getpid()


class Raises(Numbers):
    """Sample 2 raises an error."""

    def __init__(self, error, count=6):
        super().__init__(count)
        self.error = error

    def __getitem__(self, index):
        if index == 2:
            raise self.error
        return index


class Hangs(Numbers):
    """Sample 2 never comes."""

    def __getitem__(self, index):
        if index == 2:
            time.sleep(1000)
        return index


class Dies(Numbers):
    """The process that makes sample 2 dies, of a signal or with an exit code."""

    def __init__(self, count=6, signal_number=signal.SIGKILL, code=None):
        super().__init__(count)
        self.signal_number, self.code = signal_number, code

    def __getitem__(self, index):
        if index == 2 and self.code is not None:
            os._exit(self.code)
        if index == 2:
            os.kill(os.getpid(), self.signal_number)
            time.sleep(10)
        return index


class Stream(data.IterableDataset):
    """Counts; with several workers each gives every sample, or its share of them."""

    def __init__(self, count=7, shares=False, has_length=False):
        self.count, self.shares = count, shares
        if has_length:
            self.length = count

    def __iter__(self):
        info = data.get_worker_info()
        if info is None or not self.shares:
            return iter(range(self.count))
        return iter(range(info.id, self.count, info.num_workers))

    def __len__(self):
        if not hasattr(self, "length"):
            raise TypeError("a stream without a length")
        return self.length


def collate_raises(samples):
    raise ValueError("these samples do not fit")


def init_raises(worker_id):
    raise OSError("no file for this worker")


def init_seeds_numpy(worker_id):
    import numpy
    numpy.random.seed(worker_id)

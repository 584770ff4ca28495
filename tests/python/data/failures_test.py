"""DataLoader when something fails: errors of workers, killed and hanging workers, Ctrl-C, a killed
program. Nothing is left behind: no process, no shared memory, no descriptor."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import time

import pytest
from foregrad.utils import data
from loader_datasets import (Dies, Hangs, Numbers, Processes, Raises, Rows, collate_raises,
                             init_raises)

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def children():
    """Processes whose parent is this one, without those that ended."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat") as stat:
            state, parent = stat.read().rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and state != "Z":
                found.append(int(name))
    return found


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds=5):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def shared_memory():
    """The number of mappings of batches in this process, with or without a name in a folder."""
    with open("/proc/self/maps") as maps:
        return sum("foregrad-batch" in line or "/dev/shm/" in line for line in maps)


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    gc.collect()
    before = children(), shared_memory(), len(os.listdir("/proc/self/fd"))
    yield
    gc.collect()
    assert wait_until(lambda: children() == before[0]), "processes are left"
    assert shared_memory() == before[1], "shared memory is left"
    assert len(os.listdir("/proc/self/fd")) == before[2], "descriptors are left"


# ---- errors

class Odd(Exception):
    """An error whose constructor takes no message."""

    def __init__(self, one, two):
        super().__init__(one, two)


@pytest.mark.parametrize("error, kind, text", [
    (ValueError("bad"), ValueError, "ValueError: bad"), (KeyError("k"), KeyError, "KeyError: 'k'"),
    (FileNotFoundError(2, "none", "f"), FileNotFoundError, "No such|none"),
    (Odd(1, 2), RuntimeError, r"Caught Odd in DataLoader"),
    (MemoryError(), MemoryError, "Caught MemoryError"),
    (UnicodeDecodeError("utf8", b"a", 0, 1, "x"), RuntimeError, "Caught UnicodeDecodeError")])
def test_an_error_of_a_worker_keeps_its_class_and_shows_its_traceback(error, kind, text):
    iterator = iter(data.DataLoader(Raises(error), None, num_workers=2))
    assert [next(iterator), next(iterator)] == [0, 1]
    with pytest.raises(kind, match=text) as caught:
        next(iterator)
    message = str(caught.value)
    assert message.startswith(f"Caught {type(error).__name__} in DataLoader worker process 0.\n"
                              "Original Traceback (most recent call last):\n")
    assert "loader_datasets.py" in message and "raise self.error" in message
    assert list(iterator) == [3, 4, 5], "the workers go on"


def test_an_error_whose_class_cannot_travel_is_named():
    class Local(Exception):
        pass

    with pytest.raises(RuntimeError, match="Caught Local in DataLoader worker process 0"):
        list(data.DataLoader(Raises(Local("inside")), None, num_workers=1))


def test_errors_of_collate_fn_and_worker_init_fn_arrive():
    with pytest.raises(ValueError, match="these samples do not fit"):
        list(data.DataLoader(Numbers(), num_workers=2, collate_fn=collate_raises))
    with pytest.raises(OSError, match="no file for this worker"):
        list(data.DataLoader(Numbers(), num_workers=2, worker_init_fn=init_raises))


def test_errors_of_a_stream_arrive():
    class Broken(data.IterableDataset):
        def __iter__(self):
            yield 1
            raise ValueError("the stream broke")

    class Unreadable(data.IterableDataset):
        def __iter__(self):
            raise OSError("no stream")

    iterator = iter(data.DataLoader(Broken(), None, num_workers=1))
    assert next(iterator) == 1
    with pytest.raises(ValueError, match="the stream broke"):
        next(iterator)
    with pytest.raises(OSError, match="no stream"):
        list(data.DataLoader(Unreadable(), None, num_workers=1))


def test_errors_of_a_sampler_arrive_as_they_are():
    def indices():
        yield from range(6)
        raise ValueError("no more indices")

    class Sampler(data.Sampler):
        def __iter__(self):
            return indices()

    iterator = iter(data.DataLoader(Numbers(), None, sampler=Sampler(), num_workers=2))
    with pytest.raises(ValueError, match="^no more indices$"):
        list(iterator)


def test_a_batch_that_cannot_travel_is_an_error():
    class Functions(Numbers):
        def __getitem__(self, index):
            return lambda: index

    with pytest.raises(Exception, match="Caught .* in DataLoader worker process 0") as caught:
        list(data.DataLoader(Functions(), None, num_workers=1))
    assert "pickle" in str(caught.value)


# ---- workers that die or hang

@pytest.mark.parametrize("dataset, reason", [
    (Dies(), r"killed by signal 9 \(SIGKILL\)"),
    (Dies(signal_number=signal.SIGUSR2), r"killed by signal 12 \(SIGUSR2\)"),
    (Dies(code=3), "exit code 3")])
def test_a_worker_that_dies_is_named(dataset, reason):
    iterator = iter(data.DataLoader(dataset, None, num_workers=2))
    pids = [member.process.pid for member in iterator._pool.members]
    begin = time.monotonic()
    with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid\(s\) {pids[0]}\) exited "
                                           rf"unexpectedly \(worker 0: {reason}\)"):
        list(iterator)
    assert time.monotonic() - begin < 2
    assert list(iterator) == []


def test_a_worker_that_is_killed_from_outside_is_named():
    iterator = iter(data.DataLoader(Processes(1000, 0.01), None, num_workers=2))
    victim = next(iterator)
    os.kill(victim, signal.SIGKILL)
    with pytest.raises(RuntimeError, match=rf"pid\(s\) {victim}\) exited unexpectedly"):
        list(iterator)


def test_a_worker_whose_child_lives_on_is_found_dead(monkeypatch):
    from foregrad.utils.data import _utils

    class Forks(Numbers):
        def __getitem__(self, index):
            if os.fork() == 0:
                time.sleep(3)  # keeps everything open that the worker had
            os._exit(4)

    monkeypatch.setattr(_utils, "MP_STATUS_CHECK_INTERVAL", 0.2)
    with pytest.raises(RuntimeError, match="exit code 4"):
        list(data.DataLoader(Forks(), None, num_workers=1))


def test_a_hanging_worker_is_named_after_the_timeout():
    iterator = iter(data.DataLoader(Hangs(), None, num_workers=2, timeout=0.3))
    pid = iterator._pool.members[0].process.pid
    assert [next(iterator), next(iterator)] == [0, 1]
    begin = time.monotonic()
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0.3 seconds, waiting for "
                                           rf"worker 0 \(pid {pid}\)"):
        next(iterator)
    assert 0.25 < time.monotonic() - begin < 1
    begin = time.monotonic()
    del iterator
    assert time.monotonic() - begin < 2, "the end does not wait for it either"


def test_a_stopped_worker_is_late_and_then_goes_on():
    iterator = iter(data.DataLoader(Processes(20, 0.02), None, num_workers=1, timeout=0.3))
    pid = next(iterator)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(RuntimeError, match="timed out"):
        list(iterator)
    os.kill(pid, signal.SIGCONT)
    assert next(iterator) == pid


def test_a_loader_with_persistent_workers_starts_others_after_one_died():
    loader = data.DataLoader(Processes(8), None, num_workers=2, persistent_workers=True)
    first = set(loader)
    for pid in first:
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(loader)
    assert set(loader).isdisjoint(first)


# ---- the end

def test_a_loop_that_is_left_early_ends_its_workers_at_once():
    begin = time.monotonic()
    for pid in data.DataLoader(Processes(1000, 0.01), None, num_workers=2, prefetch_factor=8):
        break
    assert not is_running(pid) and time.monotonic() - begin < 2


def test_an_error_in_the_loop_ends_the_workers():
    def loop():
        for pid in data.DataLoader(Processes(1000), None, num_workers=2):
            raise ZeroDivisionError(pid)

    with pytest.raises(ZeroDivisionError) as caught:
        loop()
    pid = caught.value.args[0]
    del caught
    gc.collect()
    assert wait_until(lambda: not is_running(pid))


def test_batches_outlive_their_workers():
    batches = [x for x, _ in data.DataLoader(Rows(40, 20_000), 2, num_workers=2)]
    assert [batch[1, -1].item() for batch in batches] == list(range(1, 40, 2))


def test_a_worker_that_does_not_end_is_killed(monkeypatch):
    from foregrad.utils.data import _utils

    class Deaf(Numbers):
        def __getitem__(self, index):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(index * 1000)
            return os.getpid()

    monkeypatch.setattr(_utils, "MP_STATUS_CHECK_INTERVAL", 0.1)
    iterator = iter(data.DataLoader(Deaf(), None, num_workers=1))
    pid = next(iterator)
    del iterator
    assert not is_running(pid)


def test_a_child_of_the_program_leaves_the_workers_alone():
    iterator = iter(data.DataLoader(Numbers(200), None, num_workers=2))
    next(iterator)
    child = os.fork()
    if child == 0:
        try:
            del iterator
            gc.collect()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert list(iterator) == list(range(1, 200))


PROGRAM = """
import os, signal, sys, time
sys.path.insert(0, {helpers!r})
import foregrad as fg
from foregrad.utils import data
from loader_datasets import Processes

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    loader = data.DataLoader(Processes(100_000, {seconds}), None, num_workers=2,
                             multiprocessing_context="{method}")
    iterator = iter(loader)
    print(*[member.process.pid for member in iterator._pool.members], flush=True)
    {body}
"""
LOOP = """
    for batch in iterator:
        if batch:
            print("running", flush=True)
"""


@contextlib.contextmanager
def program(tmp_path, body=LOOP, seconds=0.01, method="fork"):
    """A program with two workers, in a group of its own; their numbers once it runs."""
    source = tmp_path / "program.py"
    helpers = os.path.join(os.path.dirname(os.path.dirname(__file__)), "helpers")
    source.write_text(PROGRAM.format(body=body.strip(), seconds=seconds, helpers=helpers,
                                     method=method))
    process = subprocess.Popen([sys.executable, source], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert len(pids) == 2, process.stderr.read()
        yield process, pids
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_ctrl_c_ends_everything_quietly(tmp_path, method):
    with program(tmp_path, method=method) as (process, pids):
        process.stdout.readline()
        begin = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, errors = process.communicate(timeout=20)
        assert time.monotonic() - begin < 2
        assert errors.count("Traceback") == 1 and errors.endswith("KeyboardInterrupt\n")
        assert process.returncode == -signal.SIGINT
        assert not any(map(is_running, pids))


def test_ctrl_c_reaches_workers_in_a_long_sample(tmp_path):
    with program(tmp_path, seconds=1000) as (process, pids):
        time.sleep(0.3)
        begin = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        assert time.monotonic() - begin < 2 and errors.count("Traceback") == 1
        assert not any(map(is_running, pids))


def test_a_program_that_goes_on_after_ctrl_c_keeps_its_workers(tmp_path):
    body = """
    try:
        time.sleep(1000)
    except KeyboardInterrupt:
        print(sum(1 for _ in zip(range(50), iterator)), flush=True)
"""
    with program(tmp_path, body, seconds=0) as (process, _):
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=20)
        assert output == "50\n" and errors == ""


@pytest.mark.parametrize("seconds", [0.01, 1000])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_end_when_the_program_is_killed(tmp_path, seconds, method):
    with program(tmp_path, seconds=seconds, method=method) as (process, pids):
        time.sleep(0.3)
        process.kill()
        process.wait()
        assert wait_until(lambda: not any(map(is_running, pids))), "workers live on"


def test_a_program_that_ends_with_a_live_iterator_ends_quietly(tmp_path):
    body = """
    next(iterator)
    kept = next(iterator)
"""
    with program(tmp_path, body) as (process, pids):
        output, errors = process.communicate(timeout=20)
        assert (output, errors, process.returncode) == ("", "", 0)
        assert not any(map(is_running, pids))

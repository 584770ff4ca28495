"""spawn(): several processes of one function, whose first error ends all and is raised here."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
import warnings
from multiprocessing import connection

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["ProcessContext", "ProcessException", "ProcessExitedException",
           "ProcessRaisedException", "SpawnContext", "spawn", "start_processes"]


class ProcessException(Exception):
    """The failure of one of the processes."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """An exception in one of the processes, with its traceback."""


class ProcessExitedException(ProcessException):
    """The end of one of the processes by a signal, or with an exit code."""

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int,
                 signal_name: str | None = None) -> None:
        super().__init__(msg, error_index, error_pid)
        self.error_pid, self.exit_code, self.signal_name = error_pid, exit_code, signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(fn, i, args, error_file, parent):
    """The body of a process."""
    _end_with(parent)
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent was interrupted, too
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


def _end_with(parent):
    """Asks the system to end this process with the one that started it."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGINT)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGINT)


class ProcessContext:
    """The processes of one call, that join() waits for."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits for some process to end; True when all have. A failure ends the others."""
        if not self.sentinels:
            return True
        failed = None
        for sentinel in connection.wait(self.sentinels.keys(), timeout=timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                failed = index
                break
        if failed is None:
            if not self.sentinels:
                self._remove_files()
            return not self.sentinels
        self._end_others(grace_period)
        self._raise(failed)

    def _end_others(self, grace_period):
        end = time.monotonic() + (grace_period or 0)
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        end = time.monotonic() + (grace_period or 30)
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
            process.join()

    def _remove_files(self):
        for path in self.error_files:
            if os.path.exists(path):
                os.unlink(path)

    def _raise(self, index):
        process, path = self.processes[index], self.error_files[index]
        text = None
        if os.path.getsize(path):
            with open(path, "rb") as file:
                text = pickle.load(file)
        self._remove_files()
        if text is not None:
            raise ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n{text}", index,
                process.pid)
        code = process.exitcode
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"<Unknown signal {-code}>"
            raise ProcessExitedException(f"process {index} terminated with signal {name}", index,
                                         process.pid, code, name)
        raise ProcessExitedException(f"process {index} terminated with exit code {code}", index,
                                     process.pid, code)


class SpawnContext(ProcessContext):
    """The processes of a call of spawn()."""


def start_processes(fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1,
                    join: bool = True, daemon: bool = False,
                    start_method: str = "spawn") -> ProcessContext | None:
    """Starts `nprocs` processes of fn(i, *args); waits for them, or returns their context."""
    context = multiprocessing.get_context(start_method)
    processes, error_files = [], []
    for i in range(nprocs):
        file = tempfile.NamedTemporaryFile(prefix="foregrad-errors-", delete=False)
        file.close()
        process = context.Process(target=_run, args=(fn, i, args, file.name, os.getpid()),
                                  daemon=daemon)
        process.start()
        processes.append(process)
        error_files.append(file.name)
    running = SpawnContext(processes, error_files)
    if not join:
        return running
    while not running.join():
        pass
    return None


def spawn(fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True,
          daemon: bool = False, start_method: str = "spawn") -> ProcessContext | None:
    """start_processes, always with the method `spawn`."""
    if start_method != "spawn":
        warnings.warn("This method only supports starting processes using the spawn start method "
                      f"(got: {start_method}). To use a different start_method use "
                      "multiprocessing.start_processes(...).", FutureWarning, stacklevel=2)
    return start_processes(fn, args, nprocs, join, daemon, "spawn")

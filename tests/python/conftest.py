"""Fixtures: programs in a process of their own, and calls that must not leak."""

import gc
import os
import subprocess
import sys
import textwrap

import pytest

# Tests compile what they run; those of the cache say how they want it.
for name in [name for name in os.environ if name.startswith("FOREGRAD_CACHE_")]:
    del os.environ[name]
os.environ["FOREGRAD_CACHE"] = "0"


def _resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def run_program():
    """Runs a program in a fresh interpreter; it must end with 0 and say nothing on stderr."""

    def run(source, *arguments, timeout=60, clean=True):
        done = subprocess.run([sys.executable, *arguments, "-c", textwrap.dedent(source)],
                              capture_output=True, text=True, timeout=timeout)
        if clean:
            assert done.returncode == 0, done.stderr
            assert done.stderr == ""
        return done

    return run


@pytest.fixture
def stays_level():
    """Calls a function many times and fails when objects or memory are left behind."""

    def check(function, *watched, times=200, memory=4 << 20):
        for _ in range(20):
            function()
        gc.collect()
        objects, counts = len(gc.get_objects()), [sys.getrefcount(w) for w in watched]
        resident = _resident_bytes()
        for _ in range(times):
            function()
        gc.collect()
        assert len(gc.get_objects()) - objects < times // 4, "objects of Python leak"
        for one, before in zip(watched, counts):
            more = sys.getrefcount(one) - before
            if one is None:  # Python's cache of attributes lets go of some as it fills
                more = max(more, 0)
            assert abs(more) < times // 4, f"references to {one!r} leak"
        assert _resident_bytes() - resident < memory, "memory leaks"

    return check

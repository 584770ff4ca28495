#!/usr/bin/env python3
"""A user's file compiles in under two seconds of processor time, plain and with -O2.

Processor time, best of three: the promise is about the header, not about a busy machine.
Usage: compile_time.py COMPILER BUILD_DIR
"""

import pathlib
import resource
import subprocess
import sys

LIMIT = 2.0
ROUNDS = 3


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def compile_seconds(command):
    before = children_seconds()
    subprocess.run(command, check=True)
    return children_seconds() - before


def main():
    compiler, build = sys.argv[1:3]
    here = pathlib.Path(__file__).parent
    source = str(here / "ten_functions.cpp")
    slow = False
    for flags in ([], ["-O2"]):
        command = [compiler, "-std=c++20", *flags, "-I" + build + "/include",
                   "-I" + str(here.parents[1] / "src"), "-c", source, "-o", "/dev/null"]
        seconds = min(compile_seconds(command) for _ in range(ROUNDS))
        print(f"{' '.join(flags) or 'no flags'}: {seconds:.2f} s, at most {LIMIT} s")
        slow = slow or seconds >= LIMIT
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())

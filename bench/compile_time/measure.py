"""Processor time of a compilation: the promise is about the header, not about a busy machine."""

import resource
import subprocess


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def compile_seconds(compiler, includes, source, flags=()):
    before = children_seconds()
    subprocess.run([compiler, "-std=c++20", *flags, *(f"-I{i}" for i in includes), "-c",
                    str(source), "-o", "/dev/null"], check=True)
    return children_seconds() - before

"""The machine and the build as text, for reports: python -m foregrad.utils.collect_env."""

from __future__ import annotations

import os
import platform
import sys

from foregrad import _C

__all__ = ["get_pretty_env_info", "main"]


def _processor():
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version_of(package):
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def get_pretty_env_info() -> str:
    """The lines of a report."""
    rows = {
        "Foregrad version": _C.__version__, "Is debug build": False,
        "CUDA used to build Foregrad": None, "OS": platform.platform(),
        "Python version": sys.version.replace("\n", " "), "Python platform": platform.platform(),
        "Is CUDA available": False, "CPU": _processor(), "Cores": os.cpu_count(),
        "Threads": _C.get_num_threads(), "Instructions": _C._level()}
    versions = {name: _version_of(name) for name in ("numpy", "tensorboard", "pytest")}
    lines = [f"{name}: {value}" for name, value in rows.items()]
    return "\n".join([*lines, "", "Versions of relevant libraries:",
                      *(f"[pip] {name}=={version}" for name, version in versions.items())])


def main() -> None:
    """Prints the report."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()

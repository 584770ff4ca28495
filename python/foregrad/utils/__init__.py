"""Small helpers with PyTorch's names."""

import importlib

from foregrad.utils import hooks  # noqa: F401

__all__ = ["hooks"]

# Loaded when they are first needed.
_LATE = ("_pytree", "benchmark", "collect_env", "data", "deterministic", "dlpack", "tensorboard")


def __getattr__(name):
    if name in _LATE:
        return importlib.import_module(f"foregrad.utils.{name}")
    if name == "summary":
        from foregrad.utils.summaries import summary

        return summary
    raise AttributeError(f"module 'foregrad.utils' has no attribute '{name}'")

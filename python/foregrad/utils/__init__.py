"""Small helpers with PyTorch's names."""

from foregrad.utils import hooks  # noqa: F401

__all__ = ["hooks"]

# Loaded when they are first needed.
_LATE = ("data",)


def __getattr__(name):
    if name in _LATE:
        import importlib
        return importlib.import_module(f"foregrad.utils.{name}")
    raise AttributeError(f"module 'foregrad.utils' has no attribute '{name}'")

"""Small helpers with PyTorch's names."""

from foregrad.utils import hooks  # noqa: F401

__all__ = ["hooks"]

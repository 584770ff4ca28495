"""Small helpers with PyTorch's names."""

from foregrad.utils import hooks as hooks

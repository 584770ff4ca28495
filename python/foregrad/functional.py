"""Functions that PyTorch keeps in this module, too."""

from foregrad._creation import broadcast_tensors, einsum, meshgrid, norm

__all__ = ["broadcast_tensors", "einsum", "meshgrid", "norm"]

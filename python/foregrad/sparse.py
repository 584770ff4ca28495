"""Sparse tensors, which do not exist here."""

from __future__ import annotations

from foregrad._refusing_module import refusals

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor",
           "sparse_coo_tensor", "sparse_csc_tensor", "sparse_csr_tensor"]

_ADVICE = "sparse tensors do not exist here; use a dense one, or index_add and scatter_add"


def _refuse(name):
    raise NotImplementedError(f"{name}: {_ADVICE}")


def sparse_coo_tensor(*args: Any, **options: Any) -> NoReturn:
    """A tensor of coordinates and values."""
    _refuse("sparse_coo_tensor")


def sparse_csr_tensor(*args: Any, **options: Any) -> NoReturn:
    """A tensor of compressed rows."""
    _refuse("sparse_csr_tensor")


def sparse_csc_tensor(*args: Any, **options: Any) -> NoReturn:
    """A tensor of compressed columns."""
    _refuse("sparse_csc_tensor")


def sparse_bsr_tensor(*args: Any, **options: Any) -> NoReturn:
    """A tensor of compressed rows of blocks."""
    _refuse("sparse_bsr_tensor")


def sparse_bsc_tensor(*args: Any, **options: Any) -> NoReturn:
    """A tensor of compressed columns of blocks."""
    _refuse("sparse_bsc_tensor")


def sparse_compressed_tensor(*args: Any, **options: Any) -> NoReturn:
    """A tensor of one of these layouts."""
    _refuse("sparse_compressed_tensor")


__getattr__ = refusals("sparse", _ADVICE)

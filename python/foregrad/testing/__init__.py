"""Comparisons and tensors for tests."""

from foregrad.testing._comparison import assert_allclose, assert_close
from foregrad.testing._creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

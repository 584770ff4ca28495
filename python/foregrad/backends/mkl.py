"""MKL, which is not used here: matrix products and threads are the library's own."""

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether MKL is used: no."""
    return False

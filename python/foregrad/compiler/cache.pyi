"""The cache as a whole; single functions are in foregrad.compiler."""

__all__ = ["clear"]

def clear() -> None: ...

"""Special functions under PyTorch's names; the entries of the table say which are here."""

from foregrad._names import functions_of as _functions_of

globals().update(_functions_of("special"))
__all__ = sorted(_functions_of("special"))

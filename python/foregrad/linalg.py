"""Linear algebra under PyTorch's names; the entries of the table say which functions are here."""

from foregrad import _C
from foregrad._names import functions_of as _functions_of

LinAlgError = _C._LinAlgError
globals().update(_functions_of("linalg"))
__all__ = ["LinAlgError", *sorted(_functions_of("linalg"))]

"""All parameters of a model as one vector, and back."""

from __future__ import annotations

from foregrad import _C

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterable
    from foregrad import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """One vector of all elements, one parameter after the other."""
    return _C._functions.cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Puts the parts of a vector into parameters."""
    if not isinstance(vec, _C.Tensor):
        raise TypeError(f"expected foregrad.Tensor, but got: {type(vec).__name__}")
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end

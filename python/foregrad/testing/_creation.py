"""make_tensor: random tensors for tests."""

from __future__ import annotations

import math
import warnings

from foregrad import _C
from foregrad import _types as types

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Size, Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from foregrad import memory_format as _memory_format

__all__ = ["make_tensor"]

_DEFAULTS = {types.bool: (0, 2), types.uint8: (0, 10)}


def _limits(low, high, dtype):
    """The range of the elements, within the dtype: the upper end is left out."""
    real = dtype.is_floating_point
    least, most = _DEFAULTS.get(dtype, (-9, 9) if real else (-9, 10))
    low, high = least if low is None else low, most if high is None else high
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low!r} and high={high!r}")
    if low == high and real:
        warnings.warn("Passing `low==high` to `foregrad.testing.make_tensor` for floating or "
                      "complex types is deprecated. Use `foregrad.full(...)` instead.",
                      FutureWarning, stacklevel=3)
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if dtype is types.bool:
        return 0, 2
    info = types.finfo(dtype) if real else types.iinfo(dtype)
    low = max(min(low, info.max), info.min)
    high = max(min(high, info.max if real else info.max + 1), info.min)
    return (low, high) if real else (math.floor(low), math.ceil(high))


def _drawn(shape, dtype, low, high):
    functions = _C._functions
    if dtype.is_floating_point:
        if high - low > types.finfo(dtype).max:  # the width alone is more than a float holds
            return functions.empty(shape, dtype=types.float64).uniform_(low, high).to(dtype)
        return functions.empty(shape, dtype=dtype).uniform_(low, high)
    return functions.randint(low, min(high, 2**63 - 1), shape, dtype=types.int64).to(dtype)


def make_tensor(*shape: int | Size | list[int] | tuple[int, ...], dtype: _dtype,
                device: str | _device, low: float | None = None, high: float | None = None,
                requires_grad: bool = False, noncontiguous: bool = False,
                exclude_zero: bool = False,
                memory_format: _memory_format | None = None) -> Tensor:
    """A tensor of random elements between `low` and `high`, by default -9 and 9 (0 and 9 of
    uint8)."""
    types.expect_cpu(device, "make_tensor")
    if not isinstance(dtype, types.dtype):
        raise TypeError(f"The requested dtype '{dtype}' is not supported by "
                        "foregrad.testing.make_tensor()")
    if noncontiguous and memory_format is not None:
        raise ValueError("The parameters `noncontiguous` and `memory_format` are mutually "
                         f"exclusive, but got noncontiguous={noncontiguous!r} and "
                         f"memory_format={memory_format!r}")
    if requires_grad and not dtype.is_floating_point:
        raise ValueError("`requires_grad=True` is not supported for boolean and integral dtypes, "
                         f"but got dtype={dtype}")
    sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    low, high = _limits(low, high, dtype)
    count = math.prod(sizes)
    if noncontiguous and count > 1:
        wide = _drawn((*sizes[:-1], 2 * sizes[-1]), dtype, low, high)
        result = wide[..., ::2]
    else:
        result = _drawn(sizes, dtype, low, high)
    if exclude_zero:
        result[result == 0] = types.finfo(dtype).tiny if dtype.is_floating_point else 1
    if memory_format is not None:
        result = result.clone(memory_format=memory_format)
    return result.requires_grad_() if requires_grad else result

"""assert_close: what differs between two tensors, numbers, or containers of them, in words."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Mapping, Sequence

from foregrad import _C
from foregrad import _types as types

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["assert_allclose", "assert_close"]

Tensor = _C.Tensor
_TOLERANCES = {types.float16: (1e-3, 1e-5), types.bfloat16: (1.6e-2, 1e-5),
               types.float32: (1.3e-6, 1e-5), types.float64: (1e-7, 1e-7)}


class _Differ(Exception):
    """The difference, and where it is."""

    def __init__(self, text, path=(), kind=AssertionError):
        super().__init__(text)
        self.text, self.path, self.kind = text, path, kind


class _Comparison:
    """The settings of one call, and its comparisons by kind."""

    def __init__(self, rtol, atol, equal_nan, checks, allow_subclasses):
        if (rtol is None) != (atol is None):
            missing = "rtol" if rtol is None else "atol"
            raise ValueError("Both 'rtol' and 'atol' must be either specified or omitted, but got "
                             f"no {missing}.")
        self.rtol, self.atol, self.equal_nan = rtol, atol, equal_nan
        self.checks, self.allow_subclasses = checks, allow_subclasses

    def tolerances(self, *dtypes):
        """The given tolerances, or those of the coarsest dtype."""
        if self.rtol is not None:
            return self.rtol, self.atol
        found = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        return max(rtol for rtol, _ in found), max(atol for _, atol in found)

    def compare(self, actual, expected, path=()):
        """Raises _Differ at the first difference."""
        if _is_sequence(actual) and _is_sequence(expected):
            return self._sequences(actual, expected, path)
        if isinstance(actual, Mapping) and isinstance(expected, Mapping):
            return self._mappings(actual, expected, path)
        try:
            self._leaves(actual, expected)
        except _Differ as error:
            raise _Differ(error.text, path, error.kind) from None

    def _sequences(self, actual, expected, path):
        if len(actual) != len(expected):
            raise _Differ("The length of the sequences mismatch: "
                          f"{len(actual)} != {len(expected)}", path)
        for i, (one, other) in enumerate(zip(actual, expected)):
            self.compare(one, other, (*path, i))

    def _mappings(self, actual, expected, path):
        missing, more = set(expected) - set(actual), set(actual) - set(expected)
        if missing or more:
            raise _Differ("The keys of the mappings do not match:\n"
                          f"Missing keys in the actual mapping: {sorted(missing)}\n"
                          f"Additional keys in the actual mapping: {sorted(more)}", path)
        for key in sorted(expected) if all(isinstance(k, str) for k in expected) else expected:
            self.compare(actual[key], expected[key], (*path, key))

    def _leaves(self, actual, expected):
        if actual is None or expected is None:
            if actual is not expected:
                raise _Differ(f"None mismatch: {actual} is not {expected}")
        elif _both(actual, expected, _is_bool):
            if bool(actual) is not bool(expected):
                raise _Differ(f"Booleans mismatch: {actual} is not {expected}")
        elif _both(actual, expected, _is_number):
            self._numbers(actual, expected)
        elif self._are_tensors(actual, expected):
            self._tensors(*map(_as_tensor, (actual, expected)))
        else:
            raise _Differ("No comparison pair was able to handle inputs of type "
                          f"{type(actual)} and {type(expected)}.", kind=TypeError)

    def _are_tensors(self, actual, expected):
        if isinstance(actual, Tensor) and isinstance(expected, Tensor):
            return self.allow_subclasses or type(actual) is type(expected)
        arrays = getattr(sys.modules.get("numpy"), "ndarray", ())
        arrays = (arrays, getattr(sys.modules.get("numpy"), "number", ())) if arrays else ()
        return isinstance(actual, arrays) and isinstance(expected, arrays)

    # ---- numbers

    def _numbers(self, actual, expected):
        if self.checks["dtype"] and type(actual) is not type(expected):
            raise _Differ(f"The (d)types do not match: {type(actual)} != {type(expected)}.")
        exact = isinstance(actual, int) and isinstance(expected, int)
        rtol, atol = self.tolerances(types.int64 if exact else types.float64)
        if actual == expected or (self.equal_nan and actual != actual and expected != expected):
            return
        difference = abs(actual - expected)
        if math.isfinite(difference) and difference <= atol + rtol * abs(expected):
            return
        relative = difference / abs(expected) if expected else math.inf
        raise _Differ(_scalar_text(actual, expected, difference, relative, rtol, atol))

    # ---- tensors

    def _tensors(self, actual, expected):
        self._attributes(actual, expected)
        rtol, atol = self.tolerances(actual.dtype, expected.dtype)
        dtype = _C._promote_types(actual.dtype, expected.dtype)
        exact = not dtype.is_floating_point
        if dtype is types.bool:
            dtype = types.int64
        if exact and (rtol, atol) == (0.0, 0.0):
            dtype = types.int64
        actual, expected = actual.detach().to(dtype), expected.detach().to(dtype)
        functions = _C._functions
        matches = (functions.eq(actual, expected) if exact and rtol == atol == 0 else
                   functions.isclose(actual, expected, rtol, atol, self.equal_nan))
        if matches.all().item():
            return
        if actual.numel() == 1 and actual.ndim == 0:
            one, other = actual.item(), expected.item()
            difference = abs(one - other)
            relative = difference / abs(other) if other else math.inf
            raise _Differ(_scalar_text(one, other, difference, relative, rtol, atol))
        raise _Differ(_tensor_text(actual, expected, matches, rtol, atol))

    def _attributes(self, actual, expected):
        if actual.shape != expected.shape:
            raise _Differ(_attribute("shape", actual.shape, expected.shape))
        if self.checks["dtype"] and actual.dtype is not expected.dtype:
            raise _Differ(_attribute("dtype", actual.dtype, expected.dtype))
        if self.checks["stride"] and actual.stride() != expected.stride():
            raise _Differ(_attribute("stride()", actual.stride(), expected.stride()))


def _attribute(name, actual, expected):
    return f"The values for attribute '{name}' do not match: {actual} != {expected}."


def _is_sequence(value):
    return (isinstance(value, Sequence) and not isinstance(value, (str, bytes, Tensor)))


def _both(actual, expected, test):
    return test(actual) and test(expected)


def _is_bool(value):
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool") and hasattr(
        value, "dtype") and not isinstance(value, Tensor)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _as_tensor(value):
    return value if isinstance(value, Tensor) else _C._tensor_from_data(value, None)


def _limit(value):
    return f" (up to {value} allowed)"


def _scalar_text(actual, expected, difference, relative, rtol, atol):
    exact = rtol == 0 and atol == 0
    return (f"Scalars are not {'equal' if exact else 'close'}!\n\n"
            f"Expected {expected} but got {actual}.\n"
            f"Absolute difference: {difference}{'' if exact else _limit(atol)}\n"
            f"Relative difference: {relative}{'' if exact else _limit(rtol)}")


def _index_of(position, shape):
    index = []
    for size in reversed(shape):
        position, last = divmod(position, size)
        index.append(last)
    return tuple(reversed(index))


def _greatest(values, matches):
    """The largest difference among elements that differ, NaN before all, and its index."""
    values = _C._functions.where(matches, _C._functions.zeros_like(values), values)
    position = values.flatten().argmax().item()
    index = _index_of(position, values.shape)
    return values.flatten()[position].item(), index


def _tensor_text(actual, expected, matches, rtol, atol):
    exact = rtol == 0 and atol == 0
    total, wrong = matches.numel(), matches.numel() - matches.sum().item()
    difference = (actual - expected).abs()
    relative = difference / expected.abs()
    if not relative.dtype.is_floating_point:
        relative = relative.to(types.float64)
    most, at = _greatest(difference, matches)
    most_relative, at_relative = _greatest(relative, matches)
    return (f"Tensor-likes are not {'equal' if exact else 'close'}!\n\n"
            f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})\n"
            f"Greatest absolute difference: {most} at index {at}{'' if exact else _limit(atol)}\n"
            f"Greatest relative difference: {most_relative} at index {at_relative}"
            f"{'' if exact else _limit(rtol)}")


def assert_close(actual: Any, expected: Any, *, allow_subclasses: bool = True,
                 rtol: float | None = None, atol: float | None = None, equal_nan: bool = False,
                 check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
                 check_stride: bool = False, msg: str | Callable[[str], str] | None = None) -> None:
    """Raises AssertionError with the differences, unless two things are close.

    Device and layout of tensors here are always the same.
    """
    __tracebackhide__ = True
    comparison = _Comparison(rtol, atol, equal_nan,
                             {"dtype": check_dtype, "stride": check_stride}, allow_subclasses)
    try:
        comparison.compare(actual, expected)
    except _Differ as found:
        text = found.text
        if found.path:
            where = "".join(f"[{key!r}]" for key in found.path)
            text += f"\n\nThe failure occurred for item {where}"
        if msg is not None:
            text = msg(text) if callable(msg) else msg
        kind = found.kind
    else:
        return
    raise kind(text)


def assert_allclose(actual: Any, expected: Any, rtol: float | None = None,
                    atol: float | None = None, equal_nan: bool = True, msg: str = "") -> None:
    """The old form of assert_close, which converts and broadcasts nothing but numbers."""
    warnings.warn("`foregrad.testing.assert_allclose()` is deprecated since 1.12 and will be "
                  "removed in a future release. Please use `foregrad.testing.assert_close()` "
                  "instead.", FutureWarning, stacklevel=2)
    actual = actual if isinstance(actual, Tensor) else _C._tensor_from_data(actual, None)
    if not isinstance(expected, Tensor):
        expected = _C._tensor_from_data(expected, actual.dtype)
    if rtol is None and atol is None:
        found = [_TOLERANCES.get(each.dtype, (0.0, 0.0)) for each in (actual, expected)]
        rtol, atol = (max(column) for column in zip(*found))
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False,
                 msg=msg or None)

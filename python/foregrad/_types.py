"""Dtypes under their other names, and descriptions of numbers: finfo, iinfo."""

import math

from foregrad import _C
from foregrad._C import (  # noqa: F401
    bfloat16,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from foregrad._device import (  # noqa: F401
    device,
    expect_cpu,
    get_default_device,
    set_default_device,
)

bool = _C.bool
half = float16
float = float32
double = float64
short = int16
int = int32
long = int64

inf = math.inf
nan = math.nan
pi = math.pi
e = math.e
newaxis = None


class _Named:
    """A constant that only has a name."""

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f"foregrad.{self._name}"

    def __reduce__(self):
        return self._name


class layout(_Named):
    """How elements are laid out: strided."""


class memory_format(_Named):
    """The order of dimensions in memory."""


strided = layout("strided")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")

_FLOATS = {  # bits, eps, max, tiny, smallest_normal, resolution
    float16: (16, 2.0**-10, 65504.0, 2.0**-14, 2.0**-24, 1e-3),
    bfloat16: (16, 2.0**-7, 3.3895313892515355e38, 2.0**-126, 2.0**-133, 1e-2),
    float32: (32, 2.0**-23, 3.4028234663852886e38, 2.0**-126, 2.0**-149, 1e-6),
    float64: (64, 2.0**-52, 1.7976931348623157e308, 2.0**-1022, 5e-324, 1e-15),
}


class finfo:
    """Limits and precision of a floating dtype."""

    def __init__(self, type=None):
        type = _C.get_default_dtype() if type is None else type
        if type not in _FLOATS:
            raise TypeError(f"finfo: expected a floating point dtype, got {type}; iinfo is for "
                            "integers")
        self.dtype = str(type).removeprefix("foregrad.")
        self.bits, self.eps, self.max, self.tiny, _, self.resolution = _FLOATS[type]
        self.smallest_normal = self.tiny
        self.min = -self.max

    def __repr__(self):
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
                f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, "
                f"tiny={self.tiny:g}, dtype={self.dtype})")


class iinfo:
    """Limits of an integer dtype."""

    def __init__(self, type):
        if not isinstance(type, dtype) or type.is_floating_point or type is bool:
            raise TypeError(f"iinfo: expected an integer dtype, got {type}; use finfo for floats")
        self.dtype = str(type).removeprefix("foregrad.")
        self.bits = 8 * type.itemsize
        self.max = 2 ** (self.bits - type.is_signed) - 1
        self.min = -(2 ** (self.bits - 1)) if type.is_signed else 0

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

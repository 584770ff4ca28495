"""The pooling functions of nn.functional."""

from foregrad import _C

_f = _C._functions

__all__ = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
           "adaptive_max_pool1d", "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d",
           "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d",
           "adaptive_max_pool3d_with_indices", "avg_pool1d", "avg_pool2d", "avg_pool3d",
           "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
           "fractional_max_pool3d_with_indices", "lp_pool1d", "lp_pool2d", "lp_pool3d",
           "max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices",
           "max_pool3d", "max_pool3d_with_indices", "max_unpool1d", "max_unpool2d",
           "max_unpool3d"]

# Those whose schema is PyTorch's signature.
adaptive_avg_pool1d = _f.adaptive_avg_pool1d
avg_pool1d = _f.avg_pool1d
avg_pool2d = _f.avg_pool2d
avg_pool3d = _f.avg_pool3d


def _steps(stride):
    """The stride as the table has it: none is the size of the windows."""
    return [] if stride is None else stride


# ---- the largest elements

def max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1,
                            ceil_mode=False, return_indices=False):
    """The largest element of each window, and its index."""
    return _f.max_pool1d_with_indices(input, kernel_size, _steps(stride), padding, dilation,
                                      ceil_mode)


def max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1,
                            ceil_mode=False, return_indices=False):
    """The largest element of each window, and its index."""
    return _f.max_pool2d_with_indices(input, kernel_size, _steps(stride), padding, dilation,
                                      ceil_mode)


def max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1,
                            ceil_mode=False, return_indices=False):
    """The largest element of each window, and its index."""
    return _f.max_pool3d_with_indices(input, kernel_size, _steps(stride), padding, dilation,
                                      ceil_mode)


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    """The largest element of each window."""
    call = _f.max_pool1d_with_indices if return_indices else _f.max_pool1d
    return call(input, kernel_size, _steps(stride), padding, dilation, ceil_mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    """The largest element of each window."""
    call = _f.max_pool2d_with_indices if return_indices else _f.max_pool2d
    return call(input, kernel_size, _steps(stride), padding, dilation, ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    """The largest element of each window."""
    call = _f.max_pool3d_with_indices if return_indices else _f.max_pool3d
    return call(input, kernel_size, _steps(stride), padding, dilation, ceil_mode)


# ---- windows that give the wanted sizes

def _output_size(input, output_size):
    """Sizes of an adaptive pooling; None keeps that of the input."""
    if not isinstance(output_size, (tuple, list)):
        return output_size
    if input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}, but is "
                         f"{input.dim()}")
    return [have if want is None else want
            for have, want in zip(input.shape[-len(output_size):], output_size)]


def adaptive_avg_pool2d(input, output_size):
    """The mean of windows that give the wanted sizes; a size may be None: as it is."""
    return _f.adaptive_avg_pool2d(input, _output_size(input, output_size))


def adaptive_avg_pool3d(input, output_size):
    """The mean of windows that give the wanted sizes; a size may be None: as it is."""
    return _f.adaptive_avg_pool3d(input, _output_size(input, output_size))


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    """The largest element of windows that give the wanted size, and its index."""
    return _f.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    """The largest element of windows that give the wanted sizes, and its index."""
    return _f.adaptive_max_pool2d(input, _output_size(input, output_size))


def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    """The largest element of windows that give the wanted sizes, and its index."""
    return _f.adaptive_max_pool3d(input, _output_size(input, output_size))


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """The largest element of windows that give the wanted size."""
    values, indices = adaptive_max_pool1d_with_indices(input, output_size)
    return (values, indices) if return_indices else values


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """The largest element of windows that give the wanted sizes; a size may be None: as it is."""
    values, indices = adaptive_max_pool2d_with_indices(input, output_size)
    return (values, indices) if return_indices else values


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """The largest element of windows that give the wanted sizes; a size may be None: as it is."""
    values, indices = adaptive_max_pool3d_with_indices(input, output_size)
    return (values, indices) if return_indices else values


# ---- windows that random numbers place

def _fractional(spatial, input, kernel_size, output_size, output_ratio, samples):
    who = f"fractional_max_pool{spatial}d"
    if output_size is None:
        if output_ratio is None:
            raise ValueError(f"{who} requires specifying either an output_size or an output_ratio")
        ratios = ([output_ratio] * spatial if isinstance(output_ratio, (int, float))
                  else list(output_ratio))
        if len(ratios) != spatial:
            raise ValueError(f"{who} requires output_ratio to be one number or {spatial}")
        output_size = [int(size * ratio) for size, ratio in zip(input.shape[-spatial:], ratios)]
    if samples is None:
        batch = 1 if input.dim() == spatial + 1 else input.size(0)
        samples = _f.rand([batch, input.size(-spatial - 1), spatial], dtype=input.dtype)
    return getattr(_f, who)(input, kernel_size, output_size, samples)


def fractional_max_pool2d_with_indices(input, kernel_size, output_size=None, output_ratio=None,
                                       return_indices=False, _random_samples=None):
    """The largest elements of windows at random places, and their indices."""
    return _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d_with_indices(input, kernel_size, output_size=None, output_ratio=None,
                                       return_indices=False, _random_samples=None):
    """The largest elements of windows at random places, and their indices."""
    return _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None,
                          return_indices=False, _random_samples=None):
    """The largest elements of windows at random places."""
    found = _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return tuple(found) if return_indices else found[0]


def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None,
                          return_indices=False, _random_samples=None):
    """The largest elements of windows at random places."""
    found = _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return tuple(found) if return_indices else found[0]


# ---- norms of windows

def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The norm of each window: (sum of x^norm_type)^(1 / norm_type)."""
    return _f.lp_pool1d(input, norm_type, kernel_size, _steps(stride), ceil_mode)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The norm of each window: (sum of x^norm_type)^(1 / norm_type)."""
    return _f.lp_pool2d(input, norm_type, kernel_size, _steps(stride), ceil_mode)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The norm of each window: (sum of x^norm_type)^(1 / norm_type)."""
    return _f.lp_pool3d(input, norm_type, kernel_size, _steps(stride), ceil_mode)


# ---- the way back from indices

def _listed(value, count):
    return list(value) if isinstance(value, (tuple, list)) else [value] * count


def _unpooled_size(input, spatial, kernel_size, stride, padding, output_size):
    """The sizes before a pooling; output_size chooses among those that it maps to the input's."""
    windows = zip(input.shape[-spatial:], _listed(kernel_size, spatial), stride, padding)
    sizes = [(size - 1) * step + kernel - 2 * pad for size, kernel, step, pad in windows]
    if output_size is None:
        return sizes
    wanted = list(output_size)
    if len(wanted) == spatial + 2:
        wanted = wanted[2:]
    if len(wanted) != spatial:
        raise ValueError(f"output_size should be a sequence containing {spatial} or {spatial + 2} "
                         f"elements, but it has a length of '{len(wanted)}'")
    for d, (want, size, step) in enumerate(zip(wanted, sizes, stride)):
        if not size - step < want < size + step:
            raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between '
                             f"{size - step} and {size + step})")
    return wanted


def _unpooling(input, spatial, kernel_size, stride, padding, output_size):
    stride = _listed(kernel_size if stride is None else stride, spatial)
    padding = _listed(padding, spatial)
    size = _unpooled_size(input, spatial, kernel_size, stride, padding, output_size)
    for d, each in enumerate(size):
        if each < 0:
            raise ValueError("max_unpooling: output_size must contain non-negative spatial "
                             f"dimensions, but got output_size[{d}]={each}")
    return size, stride, padding


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Zeros with the input's values at the indices that max_pool1d gave."""
    size, _, _ = _unpooling(input, 1, kernel_size, stride, padding, output_size)
    return _f.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1]).squeeze(-1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Zeros with the input's values at the indices that max_pool2d gave."""
    size, _, _ = _unpooling(input, 2, kernel_size, stride, padding, output_size)
    return _f.max_unpool2d(input, indices, size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Zeros with the input's values at the indices that max_pool3d gave."""
    size, stride, padding = _unpooling(input, 3, kernel_size, stride, padding, output_size)
    return _f.max_unpool3d(input, indices, size, stride, padding)

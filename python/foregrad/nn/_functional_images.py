"""The functions of nn.functional that rearrange or resample images."""

import math as _math
import warnings as _warnings

from foregrad import _C
from foregrad.nn import _functional_pooling as _pooling

_f = _C._functions

__all__ = ["affine_grid", "channel_shuffle", "fold", "grid_sample", "interpolate",
           "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle", "unfold", "upsample",
           "upsample_bilinear", "upsample_nearest", "GRID_SAMPLE_INTERPOLATION_MODES",
           "GRID_SAMPLE_PADDING_MODES"]

channel_shuffle = _f.channel_shuffle
native_channel_shuffle = _f.channel_shuffle
pixel_shuffle = _f.pixel_shuffle
pixel_unshuffle = _f.pixel_unshuffle

GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The windows of images as columns."""
    return _f.im2col(input, kernel_size, dilation, padding, stride)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The sums of columns as images: the transpose of unfold."""
    return _f.col2im(input, output_size, kernel_size, dilation, padding, stride)


# ---- other sizes

_NEAREST = {("nearest", 3): "upsample_nearest1d", ("nearest", 4): "upsample_nearest2d",
            ("nearest", 5): "upsample_nearest3d",
            ("nearest-exact", 3): "_upsample_nearest_exact1d",
            ("nearest-exact", 4): "_upsample_nearest_exact2d",
            ("nearest-exact", 5): "_upsample_nearest_exact3d"}
_AREA = {3: "adaptive_avg_pool1d", 4: "adaptive_avg_pool2d", 5: "adaptive_avg_pool3d"}
_SMOOTH = {("linear", 3): "upsample_linear1d", ("bilinear", 4): "upsample_bilinear2d",
           ("trilinear", 5): "upsample_trilinear3d", ("bicubic", 4): "upsample_bicubic2d"}
_ANTIALIASED = {"bilinear": "_upsample_bilinear2d_aa", "bicubic": "_upsample_bicubic2d_aa",
                "lanczos": "_upsample_lanczos2d_aa"}


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None,
                recompute_scale_factor=None, antialias=False):
    """The input at another size, or larger and smaller by factors."""
    if mode in ("nearest", "nearest-exact", "area"):
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: "
                             "linear | bilinear | bicubic | trilinear")
    sizes, scales = _wanted_sizes(input, size, scale_factor, recompute_scale_factor, mode)
    rank = input.dim()
    if antialias and not (mode in _ANTIALIASED and rank == 4):
        raise ValueError("Anti-alias option is restricted to bilinear, bicubic, and lanczos modes "
                         "and requires a 4-D tensor as input")
    if (mode, rank) in _NEAREST:
        return getattr(_f, _NEAREST[mode, rank])(input, sizes, *scales)
    if mode == "area" and rank in _AREA:
        return getattr(_pooling, _AREA[rank])(input, sizes)
    name = _smooth_function(mode, rank, align_corners, antialias)
    return getattr(_f, name)(input, sizes, bool(align_corners), *scales)


def _smooth_function(mode, rank, align_corners, antialias):
    """The name of the function for a mode and as many dimensions."""
    if mode == "lanczos" and rank == 4:
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
    if antialias:
        return _ANTIALIASED[mode]
    if (mode, rank) in _SMOOTH:
        return _SMOOTH[mode, rank]
    needed = {"linear": 3, "bilinear": 4, "trilinear": 5}.get(mode)
    if needed and rank in (3, 4, 5):
        raise NotImplementedError(f"Got {rank}D input, but {mode} mode needs {needed}D input")
    raise NotImplementedError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported "
        f"(got {rank}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | lanczos "
        f"| area | nearest-exact (got {mode})")


def _wanted_sizes(input, size, scale_factor, recompute, mode):
    """Sizes, and the scales that say more than their ratio does; None for each where none do."""
    spatial = max(input.dim() - 2, 0)
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        sizes = _one_each(size, spatial, input, "output size", "size")
        return [_whole(each) for each in sizes], [None] * spatial
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    scales = _one_each(scale_factor, spatial, input, "scale_factor", "scale_factor")
    sizes = [_math.floor(float(input.size(d + 2)) * scale) for d, scale in enumerate(scales)]
    keep = not recompute and mode != "area"
    return sizes, [float(scale) for scale in scales] if keep else [None] * spatial


def _one_each(value, spatial, input, word, name):
    if not isinstance(value, (tuple, list)):
        return [value] * spatial
    if len(value) != spatial:
        raise ValueError(
            f"Input and {name} must have the same number of spatial dimensions, but got input "
            f"with spatial dimensions of {list(input.shape[2:])} and {word} of {value}. Please "
            f"provide input tensor in (N, C, d1, d2, ...,dK) format and {name} with one number "
            "for each of d1 ... dK.")
    return value


def _whole(size):
    if isinstance(size, float):
        raise TypeError(f"interpolate: size must be whole numbers, got {size}; a factor is "
                        "scale_factor")
    return int(size)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """interpolate, under its old name."""
    _warn_of_upsample("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate to the nearest elements, under its old name."""
    _warn_of_upsample("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate along straight lines between the corners, under its old name."""
    _warn_of_upsample("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _warn_of_upsample(name):
    _warnings.warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` "
                   "instead.", stacklevel=3)


# ---- places of a grid

def _default_corners(align_corners):
    if align_corners is not None:
        return align_corners
    _warnings.warn("Default grid_sample and affine_grid behavior has changed to "
                   "align_corners=False since 1.3.0. Please specify align_corners=True if the old "
                   "behavior is desired. See the documentation of grid_sample for details.",
                   stacklevel=3)
    return False


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The values of images at places from -1 to 1."""
    if mode not in GRID_SAMPLE_INTERPOLATION_MODES:
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' "
                         f"or 'bicubic', but got: '{mode}'")
    if padding_mode not in GRID_SAMPLE_PADDING_MODES:
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', "
                         f"'border', or 'reflection', but got: '{padding_mode}'")
    call = _f.grid_sampler_3d if input.dim() == 5 else _f.grid_sampler_2d
    return call(input, grid, GRID_SAMPLE_INTERPOLATION_MODES[mode],
                GRID_SAMPLE_PADDING_MODES[padding_mode], _default_corners(align_corners))


def affine_grid(theta, size, align_corners=None):
    """The places to which affine maps send the elements of images of a size."""
    align_corners = _default_corners(align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    spatial = len(size) - 2
    if spatial not in (2, 3):
        raise NotImplementedError("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine "
                                  f"transforms, respectively. Got size {size}.")
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (spatial, spatial + 1):
        raise ValueError(f"Expected a batch of {spatial}D affine matrices of shape Nx{spatial}x"
                         f"{spatial + 1} for size {size}. Got {theta.shape}.")
    if align_corners and min(size[2:]) == 1:
        _warnings.warn("affine_grid: with align_corners=True a size of 1 has no corners apart; "
                       "its place is 0.", stacklevel=2)
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return _f.affine_grid_generator(theta, size, align_corners)

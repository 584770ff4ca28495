// Images at other sizes, and at places that a grid names. Inputs are [n, channels, ...] with one to
// three further dimensions.
#pragma once

#include "ir/function.h"

namespace fg {

// Scales are results per element, absent where the sizes say them.
FG_FUNCTION
ir::Function<"upsample_nearest1d(Tensor self, int[] output_size, float? scales=None) -> Tensor">
    upsample_nearest1d;
FG_FUNCTION ir::Function<
    "upsample_nearest2d(Tensor self, int[] output_size, float? scales_h=None, float? "
    "scales_w=None) -> Tensor">
    upsample_nearest2d;
FG_FUNCTION ir::Function<
    "upsample_nearest3d(Tensor self, int[] output_size, float? scales_d=None, float? "
    "scales_h=None, float? scales_w=None) -> Tensor">
    upsample_nearest3d;
FG_FUNCTION ir::Function<
    "_upsample_nearest_exact1d(Tensor self, int[] output_size, float? scales=None) -> Tensor">
    _upsample_nearest_exact1d;
FG_FUNCTION ir::Function<
    "_upsample_nearest_exact2d(Tensor self, int[] output_size, float? scales_h=None, float? "
    "scales_w=None) -> Tensor">
    _upsample_nearest_exact2d;
FG_FUNCTION ir::Function<
    "_upsample_nearest_exact3d(Tensor self, int[] output_size, float? scales_d=None, float? "
    "scales_h=None, float? scales_w=None) -> Tensor">
    _upsample_nearest_exact3d;
FG_FUNCTION ir::Function<
    "upsample_linear1d(Tensor self, int[] output_size, bool align_corners, float? scales=None) -> "
    "Tensor">
    upsample_linear1d;
FG_FUNCTION ir::Function<
    "upsample_bilinear2d(Tensor self, int[] output_size, bool align_corners, float? "
    "scales_h=None, float? scales_w=None) -> Tensor">
    upsample_bilinear2d;
FG_FUNCTION ir::Function<
    "upsample_trilinear3d(Tensor self, int[] output_size, bool align_corners, float? "
    "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor">
    upsample_trilinear3d;
FG_FUNCTION ir::Function<
    "upsample_bicubic2d(Tensor self, int[] output_size, bool align_corners, float? "
    "scales_h=None, float? scales_w=None) -> Tensor">
    upsample_bicubic2d;
// Filters that grow where an image shrinks: antialiasing.
FG_FUNCTION ir::Function<
    "_upsample_bilinear2d_aa(Tensor self, int[] output_size, bool align_corners, float? "
    "scales_h=None, float? scales_w=None) -> Tensor">
    _upsample_bilinear2d_aa;
FG_FUNCTION ir::Function<
    "_upsample_bicubic2d_aa(Tensor self, int[] output_size, bool align_corners, float? "
    "scales_h=None, float? scales_w=None) -> Tensor">
    _upsample_bicubic2d_aa;
FG_FUNCTION ir::Function<
    "_upsample_lanczos2d_aa(Tensor self, int[] output_size, bool align_corners, float? "
    "scales_h=None, float? scales_w=None) -> Tensor">
    _upsample_lanczos2d_aa;

// Positions are from -1 to 1 in each dimension, the last one first. interpolation_mode: 0 linear, 1
// nearest, 2 cubic; padding_mode: 0 zeros, 1 border, 2 reflection.
FG_FUNCTION ir::Function<
    "grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
    "align_corners) -> Tensor">
    grid_sampler_2d;
FG_FUNCTION ir::Function<
    "grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
    "align_corners) -> Tensor">
    grid_sampler_3d;
FG_FUNCTION ir::Function<
    "grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
    "align_corners) -> Tensor">
    grid_sampler;
// The positions of an affine map: theta [n, 2, 3] for images, [n, 3, 4] for volumes.
FG_FUNCTION
ir::Function<"affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor">
    affine_grid_generator;

}  // namespace fg

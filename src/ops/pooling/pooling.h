// Pooling: the maximum, the average or the norm of windows over the last one to three dimensions.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<
    "max_pool2d_with_indices(Tensor self, int[] kernel_size, int[] stride=[], int[] padding=0, "
    "int[] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)">
    max_pool2d_with_indices;
FG_FUNCTION ir::Function<
    "max_pool2d(Tensor self, int[] kernel_size, int[] stride=[], int[] padding=0, int[] "
    "dilation=1, bool ceil_mode=False) -> Tensor">
    max_pool2d;
FG_FUNCTION ir::Function<
    "max_pool1d_with_indices(Tensor self, int[] kernel_size, int[] stride=[], int[] padding=0, "
    "int[] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)">
    max_pool1d_with_indices;
FG_FUNCTION ir::Function<
    "max_pool1d(Tensor self, int[] kernel_size, int[] stride=[], int[] padding=0, int[] "
    "dilation=1, bool ceil_mode=False) -> Tensor">
    max_pool1d;
FG_FUNCTION ir::Function<
    "avg_pool2d(Tensor self, int[] kernel_size, int[] stride=[], int[] padding=0, bool "
    "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor">
    avg_pool2d;
FG_FUNCTION ir::Function<
    "avg_pool1d(Tensor self, int[] kernel_size, int[] stride=[], int[] padding=0, bool "
    "ceil_mode=False, bool count_include_pad=True) -> Tensor">
    avg_pool1d;
FG_FUNCTION ir::Function<"adaptive_avg_pool2d(Tensor self, int[] output_size) -> Tensor">
    adaptive_avg_pool2d;
FG_FUNCTION ir::Function<"adaptive_avg_pool1d(Tensor self, int[] output_size) -> Tensor">
    adaptive_avg_pool1d;
FG_FUNCTION ir::Function<"adaptive_max_pool2d(Tensor self, int[] output_size) -> (Tensor, Tensor)">
    adaptive_max_pool2d;
FG_FUNCTION ir::Function<"adaptive_max_pool1d(Tensor self, int[] output_size) -> (Tensor, Tensor)">
    adaptive_max_pool1d;

// ---- volumes
FG_FUNCTION ir::Function<
    "max_pool3d_with_indices(Tensor self, int[] kernel_size, int[] stride=[], int[] padding=0, "
    "int[] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)">
    max_pool3d_with_indices;
FG_FUNCTION ir::Function<
    "max_pool3d(Tensor self, int[] kernel_size, int[] stride=[], int[] padding=0, int[] "
    "dilation=1, bool ceil_mode=False) -> Tensor">
    max_pool3d;
FG_FUNCTION ir::Function<
    "avg_pool3d(Tensor self, int[] kernel_size, int[] stride=[], int[] padding=0, bool "
    "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor">
    avg_pool3d;
FG_FUNCTION ir::Function<"adaptive_avg_pool3d(Tensor self, int[] output_size) -> Tensor">
    adaptive_avg_pool3d;
FG_FUNCTION ir::Function<"adaptive_max_pool3d(Tensor self, int[] output_size) -> (Tensor, Tensor)">
    adaptive_max_pool3d;

// ---- norms
FG_FUNCTION ir::Function<
    "lp_pool1d(Tensor input, Scalar norm_type, int[] kernel_size, int[] stride=[], bool "
    "ceil_mode=False) -> Tensor">
    lp_pool1d;
FG_FUNCTION ir::Function<
    "lp_pool2d(Tensor input, Scalar norm_type, int[] kernel_size, int[] stride=[], bool "
    "ceil_mode=False) -> Tensor">
    lp_pool2d;
FG_FUNCTION ir::Function<
    "lp_pool3d(Tensor input, Scalar norm_type, int[] kernel_size, int[] stride=[], bool "
    "ceil_mode=False) -> Tensor">
    lp_pool3d;

// ---- windows at places that numbers in [0, 1) per sample, channel and dimension choose
FG_FUNCTION ir::Function<
    "fractional_max_pool2d(Tensor self, int[] kernel_size, int[] output_size, Tensor "
    "random_samples) -> (Tensor, Tensor)">
    fractional_max_pool2d;
FG_FUNCTION ir::Function<
    "fractional_max_pool3d(Tensor self, int[] kernel_size, int[] output_size, Tensor "
    "random_samples) -> (Tensor, Tensor)">
    fractional_max_pool3d;

// ---- zeros, with values at the indices that max pooling gave
FG_FUNCTION ir::Function<"max_unpool2d(Tensor self, Tensor indices, int[] output_size) -> Tensor">
    max_unpool2d;
FG_FUNCTION ir::Function<
    "max_unpool3d(Tensor self, Tensor indices, int[] output_size, int[] stride, int[] padding) -> "
    "Tensor">
    max_unpool3d;

}  // namespace fg

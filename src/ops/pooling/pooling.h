// Pooling: the maximum or the average of windows over the last one or two dimensions.
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

}  // namespace fg

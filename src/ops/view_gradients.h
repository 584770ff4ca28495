// The gradients of views: zeros with the gradient written where the view looked.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<
    "select_backward(Tensor grad_output, int[] input_sizes, int dim, int index) -> Tensor">
    select_backward;
inline constexpr ir::Function<
    "slice_backward(Tensor grad_output, int[] input_sizes, int dim, Dim? start, Dim? end, Dim "
    "step) "
    "-> Tensor">
    slice_backward;
inline constexpr ir::Function<
    "as_strided_backward(Tensor grad_output, int[] input_sizes, int[] input_strides, "
    "Dim input_offset, int[] size, int[] stride, Dim offset) -> Tensor">
    as_strided_backward;

}  // namespace fg

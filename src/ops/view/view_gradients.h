// The gradients of views: zeros with the gradient written into the part that the view shows.
#pragma once

#include "ir/function.h"

namespace fg {

namespace ops {

// The sizes that views take, shared by the views and the checks of their gradients.
Dim slice_start(std::optional<Dim> start, Dim size);
Dim slice_length(std::optional<Dim> start, std::optional<Dim> end, Dim step, Dim size);
// The stride of every step-th element. A product that needs more than 64 bits means that there is
// only one element, and the stride stays.
Dim stepped_stride(Dim stride, Dim step);
Dim diagonal_length(Dim rows, Dim columns, int64_t offset);
// Refuses a gradient of other sizes than the output it belongs to.
void check_grad_sizes(const Tensor& grad, const Dims& expected, const char* who);

}  // namespace ops

FG_FUNCTION ir::Function<
    "select_backward(Tensor grad_output, int[] input_sizes, int dim, int index) -> Tensor">
    select_backward;
FG_FUNCTION ir::Function<
    "slice_backward(Tensor grad_output, int[] input_sizes, int dim, Dim? start, Dim? end, Dim "
    "step) "
    "-> Tensor">
    slice_backward;
FG_FUNCTION ir::Function<
    "as_strided_backward(Tensor grad_output, int[] input_sizes, int[] input_strides, "
    "Dim input_offset, int[] size, int[] stride, Dim offset) -> Tensor">
    as_strided_backward;

FG_FUNCTION ir::Function<
    "diagonal_backward(Tensor grad_output, int[] input_sizes, int offset, int dim1, int dim2) -> "
    "Tensor">
    diagonal_backward;
FG_FUNCTION ir::Function<
    "unfold_backward(Tensor grad_in, int[] input_sizes, int dim, int size, int step) -> Tensor">
    unfold_backward;

}  // namespace fg

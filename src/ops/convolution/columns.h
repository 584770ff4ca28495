// Windows of images as columns of matrices, and sums of such columns back into images: what
// PyTorch's nn.functional calls unfold and fold.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<
    "im2col(Tensor self, int[] kernel_size, int[] dilation=1, int[] padding=0, int[] stride=1) -> "
    "Tensor">
    im2col;
FG_FUNCTION ir::Function<
    "col2im(Tensor self, int[] output_size, int[] kernel_size, int[] dilation=1, int[] padding=0, "
    "int[] stride=1) -> Tensor">
    col2im;

}  // namespace fg

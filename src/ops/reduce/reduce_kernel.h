// Reductions of strided tensors in the canonical order (ops/reduce/reduce_lanes.h).
#pragma once

#include <vector>

#include "ir/primitive.h"

namespace fg::kernels {

using Reduction = ir::Combine;

// Elements of a block of the canonical order, see ops/reduce/reduce_lanes.h.
inline constexpr int64_t kReduceBlock = 512;

// The dtype a reduction accumulates in. Sums and products exist for floats and int64 only.
DType accumulate_dtype(DType dtype);

// Reduces the marked dimensions. `out` is contiguous, has the accumulation dtype and one element
// per kept index; the reduction of no elements is the identity.
void reduce(Reduction reduction, const Tensor& self, const std::vector<bool>& axes,
            const Tensor& out);

// Columns of images in blocks of channels (ops/convolution/channel_blocks.h).
inline constexpr int64_t kFewColumns = 8;

// The loops: `count` rows of n <= 512 elements that lie `step` apart; one block of `rows` <= 512
// rows reduced over the rows, for at least sixteen columns; the same for eight columns, rows
// without gaps. Strides in elements.
struct ReduceKernels {
  void (*blocks)(const void* from, int64_t step, int64_t n, int64_t count, void* out);
  void (*columns)(const void* from, int64_t stride, int64_t rows, int64_t width, void* out);
  void (*few_columns)(const void* from, int64_t, int64_t rows, int64_t, void* out);
};
ReduceKernels reduce_kernels(Reduction reduction, DType dtype);

}  // namespace fg::kernels

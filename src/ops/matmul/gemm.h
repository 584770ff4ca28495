// Matrix products c = a @ b on strided memory, one or a broadcast batch of them.
// Promises: the bits of an element depend only on its row of a, its column of b, k, the dtype and
// the level; never on m, n, the batch, the strides or the number of threads. An element is the sum
// over k in order (fused multiply-add at v3), in blocks whose length follows from k alone; the sums
// of the blocks are added in order. f16 and bf16 are computed in f32 and rounded once; integers
// wrap. In f32, numbers below the normal ones (1.2e-38) count as zero, on x86.
#pragma once

#include <cstdint>
#include <span>

#include "base/level.h"
#include "tensor/dtype.h"

namespace fg::kernels {

struct MatrixView {
  const void* data;
  int64_t row_stride, col_stride;  // in elements, of any sign, zero too
};

// a is m x k, b is k x n, c is m x n with columns side by side and overlaps none of the others.
// self, if it has data, is added to the finished sums; only f32 and f64 may have one, and no batch.
struct Product {
  int64_t m, n, k;
  MatrixView a, b;
  void* c;
  int64_t c_row_stride;
  MatrixView self{nullptr, 0, 0};
};

// The dimensions that several products of one size are spread over; the strides are in elements,
// and 0 where an operand is shared. No dimensions: a single product.
struct Batch {
  std::span<const int64_t> sizes, a_strides, b_strides, c_strides;
};

// Every dtype but bool. Tests name a level; it must be one the CPU has.
void gemm(DType dtype, const Product& product, const Batch& batch = {}, Level level = fg::level());

}  // namespace fg::kernels

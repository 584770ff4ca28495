// Pooling over the last two dimensions of contiguous memory: planes of height x width. Which
// elements a result sees is a table per axis, so that fixed and adaptive windows are the same.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/dtype.h"

namespace fg::kernels {

// The elements begin, begin + step ... below end; `padded` counts those in the padding too.
struct Window {
  int64_t begin, end, padded;
};

struct Axis {
  int64_t size;  // of the input
  int64_t step;
  std::vector<Window> windows;  // one per result
};
Axis fixed_windows(int64_t size, int64_t results, int64_t kernel, int64_t stride, int64_t padding,
                   int64_t dilation);
Axis adaptive_windows(int64_t size, int64_t results);

struct PoolGeometry {
  int64_t planes;
  Axis rows, columns;
};

// What a sum over a window is divided by.
struct Divisor {
  bool count_padding;
  int64_t override;  // 0: none
};

// Every dtype but bool. The largest element, NaN above all, and its index in the plane.
void max_pool(DType dtype, const PoolGeometry& g, const void* input, void* values,
              int64_t* indices);
// Floats and int64.
void average_pool(DType dtype, const PoolGeometry& g, Divisor divisor, const void* input,
                  void* output);
// The transpose of average_pool: hands each result back in equal shares.
void average_pool_spread(DType dtype, const PoolGeometry& g, Divisor divisor, const void* output,
                         void* input);

}  // namespace fg::kernels
